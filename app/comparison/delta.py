"""What a knob changed, in figures: two runs compared. Knows no screen."""

from __future__ import annotations

from app.runs.figures import figures
from app.runs.run import Run
from app.units import count, percent, size
from app.views.status import DeltaRow, DeltaView


def view_delta(old: Run, new: Run, change: str) -> DeltaView:
    """Return makespan, utilization, PEs and peak SRAM before and after."""
    before, after = figures(old), figures(new)
    rows = (
        _row("makespan", "cycles", before.makespan, after.makespan),
        _row("throughput", "samples/Mcycle", before.throughput, after.throughput),
        _row("utilization", "fraction", before.utilization, after.utilization),
        _row("PEs", "PEs", before.pes_used, after.pes_used),
        _row("peak SRAM", "bytes", before.peak_allocated, after.peak_allocated),
    )
    return DeltaView(change, rows, f"{change}: " + ", ".join(_text(row) for row in rows))


def _row(name: str, unit: str, old: float, new: float) -> DeltaRow:
    change = 100 * (new - old) / old if old else None
    return DeltaRow(name, unit, float(old), float(new), change)


def _text(row: DeltaRow) -> str:
    show = {"fraction": percent, "bytes": size}.get(row.unit, count)
    if row.old == row.new:
        return f"{row.name} {show(row.new)} (same)"
    change = "" if row.percent is None else f" ({row.percent:+.1f} %)"
    return f"{row.name} {show(row.old)} -> {show(row.new)}{change}"
