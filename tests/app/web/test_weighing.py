"""Bytes that hang from a session."""

from __future__ import annotations

import numpy as np

from app.debugger import Debugger
from app.web.weighing import weigh


def test_arrays_and_bytes_are_counted_once() -> None:
    array = np.zeros(100, np.float32)
    assert weigh([array, {"again": array}, b"12345", "text", 7]) == 405


def test_view_counts_as_the_array_it_shows() -> None:
    array = np.zeros((10, 10), np.uint8)
    assert weigh((array[2:4], array[5])) == 100


def test_frames_make_a_session_heavier(debugger: Debugger) -> None:
    before = weigh(debugger)
    debugger.frame_bytes("traffic", 3)
    assert weigh(debugger) >= before + 2 * 64 * 64


def test_what_was_seen_is_free(debugger: Debugger) -> None:
    seen: set[int] = set()
    whole = weigh(debugger.run, seen)
    assert whole > 10_000
    assert weigh(debugger.run, seen) == 0
