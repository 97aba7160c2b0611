"""Whose turn it is in a streaming run."""

from __future__ import annotations

from app.runs.run import make_run
from app.views.build_streaming import view_streaming
from engine.machine import generic_mesh
from lowering.config import CompileConfig
from tests.app.sessions import mlp_run, mlp_streaming
from tests.factories.training import step_graph


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


def test_what_leaves_through_the_weight_ports_is_named() -> None:
    config = CompileConfig(machine=generic_mesh(32, 32), mode="streaming", optimizer="host")
    run = make_run(1, step_graph("mlp"), config, "mlp")
    views = [view_streaming(run, step) for step in range(run.timeline.steps)]
    sent = {t.tensor for t in run.program.transfers if t.port == "weights"}
    assert {name for view in views if view for name in view.leaving} == sent
    assert any("leaving through the weight ports: " in view.sentence for view in views if view)
