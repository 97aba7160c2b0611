"""Whose turn it is in a streaming run, the phases of the turn, what arrives and what leaves."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from app.runs.run import Run, make_run
from app.views.build_streaming import view_streaming
from app.views.streaming import PHASE_LABELS, StreamingView, TurnPhase
from engine.machine import generic_mesh
from lowering.config import CompileConfig
from tests.app.sessions import mlp_run, mlp_streaming
from tests.factories.training import step_graph


@lru_cache(maxsize=1)
def training_run(spill_mb: float | None = None) -> Run:
    config = CompileConfig(
        machine=generic_mesh(32, 32), mode="streaming", optimizer="host", spill_mb=spill_mb
    )
    return make_run(1, step_graph("mlp"), config, "mlp")


def views_of(run: Run) -> list[StreamingView]:
    """The view of every step."""
    found = [view_streaming(run, step) for step in range(run.timeline.steps)]
    return [view for view in found if view is not None]


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
            assert 0 <= row.sent <= row.words
            assert (row.sent < row.words) == (row.until_cycle > first[step])
            assert row.cycles_left > 0
            assert (row.bytes, row.sent_bytes) == (4 * row.words, 4 * row.sent)
    arrived = {row.kernel for view in views if view for row in view.arriving}
    assert arrived == set(index)
    assert views[0] is not None
    assert views[0].is_waiting
    assert "weights arrive: fc0 for sample 0" in views[0].sentence


def test_what_leaves_through_the_weight_ports_is_named() -> None:
    run = training_run()
    sent = {t.tensor for t in run.program.transfers if t.port == "weights"}
    leaving = [row for view in views_of(run) for row in view.leaving]
    assert {row.tensor for row in leaving} == sent
    assert {row.what for row in leaving} == {"gradient"}
    assert all(0 <= row.share <= 1 and row.cycles_left > 0 for row in leaving)
    told = [view.sentence for view in views_of(run) if view.leaving]
    assert all("leaving through the weight ports: " in sentence for sentence in told)


def test_new_state_leaves_where_the_optimizer_runs_on_the_wafer() -> None:
    config = CompileConfig(machine=generic_mesh(32, 32), mode="streaming")
    views = views_of(make_run(1, step_graph("mlp"), config, "mlp"))
    assert {row.what for view in views for row in view.leaving} == {"new state"}
    assert {"state"} == {p.name for v in views for p in v.phases} & {"state", "gradients"}


def test_activations_that_wait_outside_leave_and_come_back() -> None:
    run = training_run(spill_mb=0.0)
    away = {t.tensor for t in run.program.transfers if t.comes_back}
    views = views_of(run)
    leaving = [row for view in views for row in view.leaving]
    assert {row.tensor for row in leaving if row.what == "activation"} == away
    assert {row.what for row in leaving} == {"activation", "gradient"}
    arriving = {row.what for view in views for row in view.arriving}
    assert {f"activation {name}" for name in away} <= arriving
    phases = {(p.kernel, p.name) for view in views for p in view.phases}
    readers = {name for t in run.program.transfers if t.comes_back for name in t.consumers}
    assert {kernel for kernel, name in phases if name == "returns"} == readers
    makers = {t.producer for t in run.program.transfers if t.leaves and t.tensor in away}
    assert {kernel for kernel, name in phases if name == "spills"} == makers


def test_each_phase_is_later_then_now_then_done_and_its_share_only_grows() -> None:
    for run in (mlp_streaming().run, training_run(), training_run(spill_mb=0.0)):
        seen: dict[tuple[str, int, str], list[TurnPhase]] = {}
        for view in views_of(run):
            for phase in view.phases:
                seen.setdefault((phase.kernel, phase.sample, phase.name), []).append(phase)
        order = ("later", "now", "done")
        for phases in seen.values():
            states = [order.index(phase.state) for phase in phases]
            assert states == sorted(states)
            shares = [phase.share for phase in phases]
            assert shares == sorted(shares)
            assert len({(p.begin_cycle, p.end_cycle, p.detail) for p in phases}) == 1


def test_phases_have_the_cycles_of_the_timeline() -> None:
    run = training_run()
    program, timeline = run.program, run.timeline
    index = {kernel.id: i for i, kernel in enumerate(program.kernels)}
    streams = {stream.kernel: i for i, stream in enumerate(program.streams)}
    checked = set()
    for step, view in enumerate(views_of(run)):
        begin, end = run.step_bounds(step)
        for phase in view.phases:
            kernel, sample = index[phase.kernel], phase.sample
            start, stop = int(timeline.start[kernel, sample]), int(timeline.end[kernel, sample])
            if phase.name == "computes":
                assert (phase.begin_cycle, phase.end_cycle) == (start, stop)
                assert (phase.state == "now") == (start < end and stop > begin)
            elif phase.name == "waits":
                assert phase.end_cycle == start
            elif phase.name == "weights":
                row = len(program.kernels) + streams[phase.kernel]
                assert phase.begin_cycle == timeline.start[row, sample]
                assert phase.end_cycle > timeline.end[row, sample] - 1
                assert phase.end_cycle <= start
            elif phase.name in ("sends", "gradients"):
                assert phase.end_cycle > start
            elif phase.name == "outside":
                assert phase.begin_cycle >= stop
            checked.add(phase.name)
    assert checked == set(PHASE_LABELS) - {"state", "returns", "spills"}


def test_who_waits_says_for_what() -> None:
    run = mlp_streaming().run
    first = view_streaming(run, 0)
    assert first is not None
    assert first.waits_for == "wait-weights"
    assert "next: fc0 (wait-weights)" in first.sentence
    running = [view for view in views_of(run) if not view.is_waiting]
    assert {view.waits_for for view in running} == {""}


def test_between_arrivals_the_next_is_announced() -> None:
    run = mlp_streaming().run
    quiet = [(step, view) for step, view in enumerate(views_of(run)) if view.quiet]
    first = len(run.program.kernels)
    streams = slice(first, first + len(run.program.streams))
    starts = np.sort(run.timeline.start[streams].ravel())
    assert quiet
    for step, view in quiet:
        assert all(row.what != "weights" for row in view.arriving)
        begin = run.step_bounds(step)[0]
        later = starts[starts > begin]
        words = f"in {later[0] - begin:,} cycles" if len(later) else "(all have)"
        assert words in view.quiet
