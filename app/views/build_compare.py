"""From two runs to the views that compare them. Pure functions; no screen."""

from __future__ import annotations

import numpy as np

from app.comparison.compare import (
    changed_knobs,
    compare_causes,
    compare_figures,
    compare_notes,
    match_kernels,
    progress_at,
    tied_step,
)
from app.comparison.difference import Difference, codes_of, difference, pool_extremes
from app.runs.run import Run
from app.views.compare import CompareRow, CompareView, DifferenceView, KernelChange
from app.views.map import Outline, Tick

_TICKS = (-1.0, -0.5, 0.0, 0.5, 1.0)


def view_compare(a: Run, b: Run, step_b: int = 0, labels: tuple[str, str] = ("", "")
                 ) -> CompareView:  # fmt: skip
    """Return run B measured against run A; A's step follows B's by progress."""
    rows, kernels = compare_figures(a, b), match_kernels(a, b)
    knobs = changed_knobs(a.config, b.config)
    progress = progress_at(b, step_b)
    label_a, label_b = (
        given or f"{run.source} on {run.machine.name}"
        for given, run in zip(labels, (a, b), strict=True)
    )
    return CompareView(
        label_a=label_a, label_b=label_b, rows=rows, causes=compare_causes(a, b),
        kernels=kernels, knobs=knobs, notes=compare_notes(a, b),
        step_a=tied_step(a, progress), step_b=step_b, progress=progress,
        standing=b.standing if not b.program.would_run else a.standing,
        sentence=_sentence(rows, kernels, knobs),
    )  # fmt: skip


def _sentence(
    rows: tuple[CompareRow, ...],
    kernels: tuple[KernelChange, ...],
    knobs: tuple[tuple[str, str, str], ...],
) -> str:
    by_name = {row.name: row for row in rows}
    head = ", ".join(f"{name} {old} -> {new}" for name, old, new in knobs[:3]) or "equal knobs"
    parts = []
    for name in ("makespan", "throughput", "peak SRAM"):
        row = by_name[name]
        if row.verdict == "same":
            parts.append(f"{name} {row.texts[1]}, the same")
        else:
            parts.append(f"{name} {row.texts[0]} -> {row.texts[1]}, {row.texts[2]}, {row.verdict}")
    states = [kernel.state for kernel in kernels if kernel.state != "same"]
    counted = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    moves = f"; kernels: {', '.join(counted)}" if counted else "; no kernel moved"
    return f"{head}: {'; '.join(parts)}{moves}"


def view_difference(
    a: Run,
    b: Run,
    metric: str,
    height: int,
    width: int,
    steps: tuple[int, int] | None = None,
) -> DifferenceView:
    """Return B less A over the run (or between two steps) in at most height x width pixels.

    Raises:
        CommandError: no such metric, or one without numbers.
    """
    found = difference(a, b, metric, steps)
    pooled, pool_rows, pool_cols = pool_extremes(found.field, height, width)
    limit = limit_of(found)
    rows, cols = found.field.shape
    return DifferenceView(
        metric=found.metric.id, label=found.metric.label, unit=found.unit, what=found.what,
        steps=found.steps, grid=(rows, cols), values=codes_of(pooled, limit), limit=limit,
        palette="diverging", ticks=ticks_of(found, limit), pool_rows=pool_rows,
        pool_cols=pool_cols, outlines=scaled_outlines(b, (rows, cols)),
        standing=b.standing_of(found.metric.standing), sentence=difference_sentence(found),
    )  # fmt: skip


def limit_of(found: Difference) -> float:
    """Return the largest difference either way."""
    return float(np.abs(found.field).max(initial=0.0))


def ticks_of(found: Difference, limit: float) -> tuple[Tick, ...]:
    """Return the legend's marks."""
    if limit <= 0:
        return (Tick(0.0, 0.5, "equal"),)
    return tuple(
        Tick(share * limit, (share + 1) / 2, amount_text(found, share * limit)) for share in _TICKS
    )


def amount_text(found: Difference, value: float) -> str:
    """Return a difference as people read it, with its unit."""
    kind = found.metric.kind
    if value == 0:
        return "equal"
    if kind == "fraction":
        return f"{100 * value:+.3g} points"
    if kind == "bytes":
        return f"{value / 1024:+.3g} KB"
    text = f"{value:+,.0f}" if abs(value) >= 1000 else f"{value:+.3g}"
    return f"{text} {found.unit}"


def scaled_outlines(run: Run, grid: tuple[int, int]) -> tuple[Outline, ...]:
    """Return the regions of a run on a grid that may be smaller than its own."""
    rows, cols = (have / own for have, own in zip(grid, run.grid, strict=True))
    found = []
    for kernel in run.program.kernels:
        region = kernel.region
        row, col = int(region.row * rows), int(region.col * cols)
        high = max(1, int(region.end_row * rows) - row)
        wide = max(1, int(region.end_col * cols) - col)
        found.append(Outline(kernel.id, row, col, high, wide, False, "ok"))
    return tuple(found)


def difference_sentence(found: Difference) -> str:
    """Say how many PEs differ and where the most."""
    field = found.field
    where = "over the run" if found.steps is None else "in steps {} and {}".format(*found.steps)
    text = f"{found.metric.label}, B less A {where}: "
    higher, lower = int((field > 0).sum()), int((field < 0).sum())
    if not higher and not lower:
        text += "every PE is equal"
    else:
        text += f"higher on {higher:,} PEs, lower on {lower:,}, equal on "
        text += f"{field.size - higher - lower:,}"
        for name, index in (("most", int(np.argmax(field))), ("least", int(np.argmin(field)))):
            row, col = divmod(index, field.shape[1])
            if (name == "most") == (field[row, col] > 0) and field[row, col]:
                text += f"; {name} at ({row}, {col}): {amount_text(found, float(field[row, col]))}"
    return f"{text}; {found.remark}" if found.remark else text
