"""Whose turn it is in a streaming run."""

from __future__ import annotations

from app.views.build_streaming import view_streaming
from tests.app.sessions import mlp_run, mlp_streaming


def test_run_without_streams_has_no_turn() -> None:
    assert view_streaming(mlp_run(), 3) is None


def test_turn_and_arrivals_follow_the_timeline() -> None:
    run = mlp_streaming().run
    views = [view_streaming(run, step) for step in range(run.timeline.steps)]
    first, index = run.timeline.times, {k.id: i for i, k in enumerate(run.program.kernels)}
    for step, view in enumerate(views):
        assert view is not None
        for name in view.turn if not view.is_waiting else ():
            starts, ends = run.timeline.start[index[name]], run.timeline.end[index[name]]
            assert ((starts < first[step + 1]) & (ends > first[step])).any()
        for row in view.arriving:
            assert 0 <= row.sent < row.words
            assert row.until_cycle > first[step]
    arrived = {row.kernel for view in views if view for row in view.arriving}
    assert arrived == set(index)
    assert views[0] is not None
    assert views[0].is_waiting
    assert "weights arrive: fc0 for sample 0" in views[0].sentence
