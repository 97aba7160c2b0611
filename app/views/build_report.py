"""From a run to its report: the compiler's rows, overflows, ledger, headline. No screen."""

from __future__ import annotations

from app.runs.figures import Figures, figures
from app.runs.run import Run
from app.units import count, percent, seconds, size
from app.views.report import CheckRow, OverflowRow, ReportRow, ReportView
from engine.geometry import Rect
from lowering.report import Overflow


def view_report(run: Run) -> ReportView:
    """Return the compile report and the run's figures."""
    report, execution = run.compiled.report, run.execution
    rows = tuple(
        ReportRow(
            name=row.name, kind=row.kind, region=_region(row.region), active_pes=row.active_pes,
            cycles=row.cycles, samples_per_mcycle=row.samples_per_mcycle,
            compute_samples_per_mcycle=row.compute_samples_per_mcycle,
            transmission_samples_per_mcycle=row.transmission_samples_per_mcycle,
            utilization=row.utilization, sram_bytes=row.sram_bytes, ops=row.ops,
            source_nodes=tuple(row.source_nodes),
            is_bottleneck=row.name == execution.bottleneck.kernel,
        )
        for row in report.rows
    )  # fmt: skip
    fits = run.program.would_run
    return ReportView(
        model=run.compiled.graph.name, machine=run.machine.name, fits=fits,
        headline=_headline(run, figures(run)), rows=rows,
        overflows=tuple(overflow_row(item) for item in report.worst_first()),
        checks=tuple(CheckRow(c.name, c.ok, c.detail) for c in execution.ledger.checks),
        ledger_ok=execution.ledger.ok, notes=(*run.program.notes, *run.remarks),
        text=report.to_text(), bottleneck=execution.bottleneck.sentence, standing=run.standing,
        severity="ok" if fits and execution.ledger.ok else "alert",
        smallest_machine=report.smallest_machine,
        wafers=report.wafers.sentence() if report.wafers else "",
    )  # fmt: skip


def _region(region: Rect) -> tuple[int, int, int, int]:
    return region.row, region.col, region.rows, region.cols


def overflow_row(item: Overflow) -> OverflowRow:
    """Return an overflow with its sentence."""
    holders = tuple((name, int(amount)) for name, amount in item.holders)
    return OverflowRow(
        item.resource, item.where, float(item.demand), float(item.bound), float(item.gap),
        item.unit, holders, tuple(item.levers), item.sentence(),
    )  # fmt: skip


def _headline(run: Run, figure: Figures) -> tuple[tuple[str, str], ...]:
    machine = run.machine
    clock = machine.clock_hz
    samples_per_second = figure.throughput * clock / 1e6
    used = figure.pes_used / max(1, machine.working_pes)
    run_on = [
        ("makespan", f"{count(figure.makespan)} cycles ({seconds(figure.makespan, clock)})"),
        ("throughput", f"{figure.throughput:,.4g} samples/Mcycle "
                       f"({samples_per_second:,.4g} samples/s at {clock / 1e9:.3g} GHz)"),
        ("PEs used", f"{count(figure.pes_used)} of {count(machine.working_pes)} ({percent(used)})"),
        ("utilization", f"{percent(figure.utilization)} of all PEs over the run"),
        ("efficiency", f"{percent(figure.efficiency)} of peak {run.program.storage} operations"),
        ("peak SRAM", f"{size(figure.peak_allocated)} allocated, {size(figure.peak_live)} live, "
                      f"of {size(machine.sram_bytes)}"),
        ("busiest link", f"{figure.peak_link:.3g} wavelets a cycle"),
        ("steps", count(figure.steps)),
    ]  # fmt: skip
    known = [
        ("samples", count(figure.samples)),
        ("parameters", count(run.compiled.report.parameters)),
        ("MACs", f"{count(run.compiled.report.macs)} a sample"),
    ]
    mark = "" if run.program.would_run else "; would not run"
    return (*((label, value + mark) for label, value in run_on), *known)
