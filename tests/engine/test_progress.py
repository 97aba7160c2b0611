"""Progress reports and cancelling."""

from __future__ import annotations

import pytest

from engine.progress import Cancelled, Progress, ProgressState


def test_stage_and_its_end_are_always_reported() -> None:
    seen: list[ProgressState] = []
    progress = Progress(seen.append)
    progress.stage("placement", 3, "kernels")
    progress.advance(3)
    assert [(s.stage, s.done, s.total) for s in seen] == [("placement", 0, 3), ("placement", 3, 3)]
    assert seen[-1].fraction == 1.0


def test_cancelled_work_stops_at_the_next_check() -> None:
    stop = False
    progress = Progress(None, lambda: stop)
    progress.stage("timing")
    stop = True
    with pytest.raises(Cancelled, match="timing"):
        progress.advance(1)


def test_unknown_total_has_no_fraction() -> None:
    assert ProgressState("timing", 7, 0, "steps").fraction == 0.0
