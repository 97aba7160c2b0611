"""Two runs compared: figures, kernels matched by name, steps tied by progress. Pure; no screen.

A is what was there before, B what is looked at; every difference is B less A.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.runs.figures import Figures, figures
from app.runs.run import Run
from app.units import count, percent, size
from app.views.compare import Box, CompareRow, KernelChange
from engine.geometry import Rect
from lowering.config import KNOBS, CompileConfig, knob_value

_FIGURES = (
    # name, unit, field of Figures, which way is better (-1 lower, +1 higher, 0 neither)
    ("makespan", "cycles", "makespan", -1),
    ("throughput", "samples/Mcycle", "throughput", 1),
    ("utilization", "fraction", "utilization", 1),
    ("efficiency", "fraction", "efficiency", 1),
    ("PEs", "PEs", "pes_used", 0),
    ("peak SRAM", "bytes", "peak_allocated", -1),
    ("peak SRAM live", "bytes", "peak_live", -1),
    ("busiest link", "wavelets/cycle", "peak_link", -1),
    ("samples", "samples", "samples", 0),
    ("steps", "steps", "steps", 0),
)


def compare_figures(a: Run, b: Run) -> tuple[CompareRow, ...]:
    """Return the headline figures of both runs; of unequal samples no makespan is better."""
    first, second = figures(a), figures(b)
    unequal = {"makespan"} if first.samples != second.samples else set()
    return tuple(
        make_row(
            name, unit, getattr(first, field), getattr(second, field),
            0 if field in unequal else better,
        )
        for name, unit, field, better in _FIGURES
    )  # fmt: skip


def compare_causes(a: Run, b: Run) -> tuple[CompareRow, ...]:
    """Return the share of each cause in PEs x makespan, those that neither run has left out."""
    first, second = _shares(figures(a)), _shares(figures(b))
    return tuple(
        make_row(cause, "fraction", first[cause], second[cause], 1 if cause == "compute" else 0)
        for cause in first
        if first[cause] or second[cause]
    )


def _shares(figure: Figures) -> dict[str, float]:
    total = max(1, sum(amount for _, amount in figure.causes))
    return {cause: amount / total for cause, amount in figure.causes}


def make_row(name: str, unit: str, a: float, b: float, better: int) -> CompareRow:
    """Return a row; `better` is -1 where less is better, 1 where more is, 0 where neither."""
    difference = b - a
    verdict = "same" if difference == 0 else "changed"
    if difference and better:
        verdict = "better" if difference * better > 0 else "worse"
    change = 100 * difference / a if a else None
    return CompareRow(
        name, unit, float(a), float(b), float(difference), change, verdict,
        (show(a, unit), show(b, unit), _change_text(difference, change, unit)),
    )  # fmt: skip


def show(value: float, unit: str) -> str:
    """Return a figure as people read it."""
    if unit == "fraction":
        return percent(value)
    return size(value) if unit == "bytes" else count(value)


def _change_text(difference: float, change: float | None, unit: str) -> str:
    if difference == 0:
        return "same"
    sign = "+" if difference > 0 else "-"
    text = sign + show(abs(difference), unit)
    if unit == "fraction":
        return text.replace(" %", " points")
    return text if change is None else f"{text} ({change:+.1f} %)"


def match_kernels(a: Run, b: Run) -> tuple[KernelChange, ...]:
    """Return every kernel of either run, matched by name: B's in its order, then what is gone."""
    first, second = _kernels(a), _kernels(b)
    names = [*second, *(name for name in first if name not in second)]
    return tuple(_kernel_change(name, first.get(name), second.get(name)) for name in names)


_Facts = tuple[Rect, int, int]
"""region, cycles of an instance, bytes on the fullest PE"""


def _kernels(run: Run) -> dict[str, _Facts]:
    rows = {row.name: row for row in run.compiled.report.rows}
    return {
        kernel.id: (kernel.region, rows[kernel.id].cycles, rows[kernel.id].sram_bytes)
        for kernel in run.program.kernels
        if kernel.id in rows
    }


def _kernel_change(name: str, a: _Facts | None, b: _Facts | None) -> KernelChange:
    if a is None or b is None:
        there = a or b
        assert there is not None
        state = "new" if a is None else "gone"
        region = there[0]
        text = f"{name}: {state}, {region.rows}x{region.cols} PEs at ({region.row}, {region.col})"
        is_moved = False
    else:
        state, is_moved, text = _movement(name, a, b)
    return KernelChange(
        name, state, is_moved, _box(a), _box(b), a and a[1], b and b[1], a and a[2], b and b[2],
        text,
    )  # fmt: skip


def _movement(name: str, a: _Facts, b: _Facts) -> tuple[str, bool, str]:
    before, after = a[0], b[0]
    is_moved = (before.row, before.col) != (after.row, after.col)
    parts = []
    state = "moved" if is_moved else "same"
    if (before.rows, before.cols) != (after.rows, after.cols):
        state = "reshaped"
        if before.area != after.area:
            state = "grown" if after.area > before.area else "shrunk"
        parts.append(f"{state} from {before.rows}x{before.cols} to {after.rows}x{after.cols} PEs")
    if is_moved:
        parts.append(f"moved from ({before.row}, {before.col}) to ({after.row}, {after.col})")
    if a[1] != b[1]:
        parts.append(f"{count(a[1])} -> {count(b[1])} cycles")
    if a[2] != b[2]:
        parts.append(f"{size(a[2])} -> {size(b[2])} a PE")
    return state, is_moved, f"{name}: {', '.join(parts) if parts else 'the same'}"


def _box(facts: _Facts | None) -> Box | None:
    if facts is None:
        return None
    region = facts[0]
    return region.row, region.col, region.rows, region.cols


def changed_knobs(a: CompileConfig, b: CompileConfig) -> tuple[tuple[str, str, str], ...]:
    """Return (knob, value in A, value in B) of the knobs that differ, kernels' as KNOB@KERNEL."""
    changes = []
    for name, knob in KNOBS.items():
        kernels: Sequence[str | None] = (None,)
        if knob.per_kernel:
            known = (*a.pe_caps, *b.pe_caps, *a.pins, *b.pins)
            kernels = sorted({kernel for kernel, _ in known})
        for kernel in kernels:
            values = knob_value(a, name, kernel), knob_value(b, name, kernel)
            if values[0] != values[1]:
                changes.append((f"{name}@{kernel}" if kernel else name, *values))
    return tuple(changes)


def compare_notes(a: Run, b: Run) -> tuple[str, ...]:
    """Return what makes two runs hard to compare."""
    notes = []
    names = a.compiled.graph.name, b.compiled.graph.name
    if names[0] != names[1]:
        notes.append(f"A is '{names[0]}', B is '{names[1]}': two models")
    elif a.compiled.graph.source_hash != b.compiled.graph.source_hash:
        notes.append("the two come from different model files of the same name")
    if a.program.samples != b.program.samples:
        notes.append(
            f"A sends {a.program.samples} samples, B {b.program.samples}: compare throughput, "
            "not the makespan"
        )
    for label, run in (("A", a), ("B", b)):
        if not run.program.would_run:
            notes.append(f"{label} does not fit its machine: its figures are a what-if")
    if a.machine.clock_hz != b.machine.clock_hz:
        notes.append(
            f"clocks differ ({a.machine.clock_hz / 1e9:.3g} and {b.machine.clock_hz / 1e9:.3g} "
            "GHz): equal cycles are not equal seconds"
        )
    return tuple(notes)


def progress_at(run: Run, step: int) -> float:
    """Return the share of the makespan at which a step starts, 0..1."""
    return run.step_bounds(step)[0] / max(1, run.timeline.makespan)


def tied_step(run: Run, progress: float) -> int:
    """Return the step of a run at a share of its makespan."""
    makespan = run.timeline.makespan
    return int(run.timeline.step_at(max(0, min(int(progress * makespan), makespan - 1))))
