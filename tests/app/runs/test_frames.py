"""Frames for a canvas: whole grid, exact codes, bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from app.runs.frames import FrameCache
from tests.app.sessions import mlp_run


def test_frame_holds_the_whole_grid() -> None:
    frame = FrameCache().get(mlp_run(), "sram_live", 9)
    codes = np.frombuffer(frame.data, "<u2").reshape(frame.rows, frame.cols)
    np.testing.assert_array_equal(codes, mlp_run().execution.fields.field("sram_live", 9))
    assert frame.dtype == "uint16"


def test_same_frame_comes_from_memory() -> None:
    cache = FrameCache()
    assert cache.get(mlp_run(), "cause", 3) is cache.get(mlp_run(), "cause", 3)


def test_map_behind_a_frame_is_kept_and_cannot_be_written() -> None:
    cache = FrameCache()
    cache.get(mlp_run(), "traffic", 3)
    field = cache.field(mlp_run(), "traffic", 3)
    assert field is cache.field(mlp_run(), "traffic", 3)
    assert not field.flags.writeable


def test_memory_is_bounded() -> None:
    cache = FrameCache(budget=3 * 64 * 64)
    for step in range(6):
        cache.get(mlp_run(), "utilization", step)
    assert len(cache._frames) == 3


def test_unknown_metric_and_step_are_refused() -> None:
    with pytest.raises(KeyError, match="no metric"):
        FrameCache().get(mlp_run(), "heat", 0)
    with pytest.raises(IndexError, match="does not exist"):
        FrameCache().get(mlp_run(), "cause", 10**6)
