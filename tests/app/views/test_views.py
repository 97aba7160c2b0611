"""PE, kernel, timeline, report, status: numbers agree with each other and with the fields."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.finding.idle import idle_map
from app.runs.figures import cause_totals, figures, used_pes
from app.runs.opening import open_run
from app.session import moves
from app.views.build_idle import view_idle
from app.views.build_kernel import view_kernel
from app.views.build_pe import view_pe
from app.views.build_report import view_report
from app.views.build_status import view_status
from app.views.build_timeline import view_timeline
from engine.machine import generic_mesh
from lowering.config import CompileConfig
from lowering.report import WaferPart, Wafers
from tests.app.sessions import mlp_run, spilled_run


@pytest.mark.parametrize("place", [(0, 0), (3, 14), (63, 63)])
def test_cycles_of_a_pe_sum_to_the_step_and_the_run(place: tuple[int, int]) -> None:
    run = mlp_run()
    view = view_pe(run, 9, *place)
    assert sum(row.step_cycles for row in view.causes) == view.step_cycles
    assert sum(row.run_cycles for row in view.causes) == run.timeline.makespan
    assert sum(row.run_share for row in view.causes) == pytest.approx(1)


def test_pe_shows_its_sram_kernel_and_source() -> None:
    run = mlp_run()
    region = run.region("fc1")
    view = view_pe(run, 9, region.row, region.col)
    assert view.kernel == "fc1"
    assert view.source_nodes == run.program.kernel("fc1").origin
    assert view.sram_allocated == max(row.offset + row.size for row in view.sram)
    resident = sum(row.live_bytes for row in view.sram if row.role != "work")
    assert resident <= view.sram_live <= sum(row.live_bytes for row in view.sram)
    assert all(row.fits for row in view.sram)
    assert "row 0 of" in view.tile


def test_pe_without_kernel_is_unassigned() -> None:
    view = view_pe(mlp_run(), 0, 63, 63)
    assert view.kernel is None
    assert [row.cause for row in view.causes] == ["unassigned"]
    assert view.sentence == "PE (63, 63) belongs to no kernel: unassigned for the whole run"


def test_kernel_lists_an_instance_a_sample_and_both_ends_of_its_edges() -> None:
    run = mlp_run()
    view = view_kernel(run, "fc1")
    assert [row.sample for row in view.instances] == [0, 1, 2, 3]
    assert all(row.end - row.start == view.cycles + row.stalled for row in view.instances)
    assert {(edge.direction, edge.other) for edge in view.edges} == {
        ("in", "fc0"),
        ("out", "scores"),
    }


def test_what_passes_the_weight_ports_comes_from_outside_and_goes_there() -> None:
    run = spilled_run()
    back = next(t for t in run.program.transfers if t.comes_back)
    assert back.id == f"{back.tensor}: outside to {back.consumers[0]}"
    (mine,) = [e for e in view_kernel(run, back.consumers[0]).edges if e.transfer == back.id]
    assert (mine.direction, mine.other) == ("in", "outside")
    (gone,) = [t for t in run.program.transfers if t.leaves and t.tensor == back.tensor]
    assert gone.id == f"{gone.tensor}: {gone.producer} to outside"
    (mine,) = [e for e in view_kernel(run, gone.producer).edges if e.transfer == gone.id]
    assert (mine.direction, mine.other) == ("out", "outside")


def test_timeline_bins_hold_the_runs_compute() -> None:
    run = mlp_run()
    view = view_timeline(run, 3, bins=50)
    mean = sum(view.series[0].mean) / 50
    assert mean == pytest.approx(figures(run).utilization)
    assert max(view.series[0].peak) == view.series[0].top
    assert len(view.bars) == 3 * 4


def test_timeline_shows_only_what_is_in_range() -> None:
    run = mlp_run()
    start, end = int(run.timeline.start[0, 1]), int(run.timeline.end[0, 1])
    view = view_timeline(run, 0, 10, start, end)
    assert all(bar.start < end and bar.end > start for bar in view.bars)
    with pytest.raises(ValueError, match="hold nothing"):
        view_timeline(run, 0, 10, 5, 5)


def test_causes_of_the_run_sum_to_pes_times_makespan() -> None:
    run = mlp_run()
    assert sum(n for _, n in cause_totals(run)) == 64 * 64 * run.timeline.makespan


def test_causes_sum_where_kernels_that_take_turns_leave_pes_unused() -> None:
    config = CompileConfig(machine=generic_mesh(70, 70), samples=2, mode="streaming")
    run = open_run(1, "mlp", config, {}).run
    assert used_pes(run) < 70 * 70
    assert sum(n for _, n in cause_totals(run)) == 70 * 70 * run.timeline.makespan
    assert dict(cause_totals(run))["unassigned"] == 0
    assert view_idle(run, None).idle_share <= 1
    step = idle_map(run, run.timeline.steps // 2)
    assert sum(n for _, n in step.totals) == pytest.approx(70 * 70 * step.cycles, rel=1e-4)


def test_report_has_a_row_a_kernel_and_one_bottleneck() -> None:
    view = view_report(mlp_run())
    assert [row.name for row in view.rows] == ["fc0", "fc1", "scores"]
    assert view.fits
    assert view.ledger_ok
    assert dict(view.headline)["steps"] == str(mlp_run().timeline.steps)


def test_report_says_how_many_wafers_would_do() -> None:
    run = mlp_run()
    assert view_report(run).wafers == ""
    wafers = Wafers("wse3", (WaferPart("fc0", "fc0", 40_000), WaferPart("fc1", "scores", 30_000)))
    report = replace(run.compiled.report, wafers=wafers)
    view = view_report(replace(run, compiled=replace(run.compiled, report=report)))
    assert view.wafers == wafers.sentence()
    assert view.wafers.startswith("2 wafers of wse3 would hold it")
    assert view.wafers in view.text


def test_status_names_the_step() -> None:
    run = mlp_run()
    cursor = moves.step(run, moves.start(run).at(0), 1).cursor
    view = view_status(run, cursor, None, None, 5, "hello")
    assert view.step_label.startswith("fc0 starts, sample 0")
    assert view.cycle_end > view.cycle_start
    assert (view.revision, view.message, view.job) == (5, "hello", None)
