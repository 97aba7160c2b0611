"""From a run and a cursor to the map. A pure function; no screen."""

from __future__ import annotations

import numpy as np

from app.finding.hot_links import HOT_LINK
from app.runs.frames import encode, metric_scale
from app.runs.map_metrics import MAP_METRICS, categories_of, map_field
from app.runs.run import Run
from app.session.cursor import Cursor, Viewport
from app.units import amount, count, percent
from app.views.build_streaming import kernels_in
from app.views.map import HitMark, MapView, Outline, Scale, Tick, positions
from app.views.pooling import pool
from engine.metrics import Metric

_FRACTIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
_POWERS = (0.0, 0.01, 0.1, 1.0)
"""the same on a log scale"""
_NICE = (1, 2, 2.5, 5, 10)
_LONG_STEP = 32
"""cycles from which a hot link is worth a warning: amounts are whole wavelets"""


def view_map(
    run: Run,
    cursor: Cursor,
    height: int,
    width: int,
    field: np.ndarray | None = None,
    hit: HitMark | None = None,
) -> MapView:
    """Return the cursor's metric over its viewport in at most height x width pixels.

    `field` is the map of the metric in the step, when the caller has it; `hit` is what stopped
    the run in it.
    """
    metric = MAP_METRICS[cursor.metric]
    if field is None:
        field = map_field(run, metric.id, cursor.step)
    window = field[cursor.viewport.rect.slices()]
    scale = metric_scale(run, metric.id, cursor.log)
    pooled, pool_rows, pool_cols = pool(window, height, width, metric.pool)
    codes = encode(pooled, scale, metric.kind)
    codes.setflags(write=False)
    start, end = run.step_bounds(cursor.step)
    shared = "commonest" if metric.pool == "mode" else metric.pool
    is_pooled = pool_rows * pool_cols > 1
    severity, sentence = _assess(run, metric, window, cursor.viewport, cursor.step)
    return MapView(
        metric=metric.id, label=metric.label, unit=metric.unit, kind=metric.kind,
        step=cursor.step, step_label=run.label(cursor.step), grid=run.grid,
        viewport=cursor.viewport, values=codes, pool_rows=pool_rows, pool_cols=pool_cols,
        pool_kind=metric.pool,
        pool_text=f"{shared} of {pool_rows}x{pool_cols} PEs" if is_pooled else "",
        scale=scale, palette=metric.palette, ticks=ticks_of(run, metric, scale),
        categories=categories_of(metric.id),
        outlines=_outlines(run, cursor), selection=cursor.selection,
        standing=run.standing_of(metric.standing), severity=severity, sentence=sentence,
        running=kernels_in(run, start, end), hit=hit,
    )  # fmt: skip


def ticks_of(run: Run, metric: Metric, scale: Scale) -> tuple[Tick, ...]:
    """Return the legend's marks in the metric's own unit."""
    if metric.kind == "category":
        names = enumerate(categories_of(metric.id))
        return tuple(Tick(float(code), code / 255, name) for code, name in names)
    parts = np.array(_POWERS if scale.log else _FRACTIONS) * scale.hi
    values = parts if metric.kind in ("fraction", "load") else _round_values(metric, scale.hi)
    places = positions(values, scale)
    return tuple(
        Tick(float(value), float(place), _tick_text(run, metric.kind, float(value)))
        for value, place in zip(values, places, strict=True)
    )


def _round_values(metric: Metric, high: float) -> np.ndarray:
    """Return at most five round values from 0 to just below `high`, and `high` itself."""
    if high <= 0:
        return np.zeros(1)
    base = 1024.0 if metric.kind == "bytes" and high >= 4096 else 1.0
    raw = high / base / 4
    power = 10.0 ** np.floor(np.log10(raw))
    pitch = max(1 / base, next(n for n in _NICE if n * power >= raw * 0.999) * power) * base
    marks = np.arange(0.0, high - pitch / 2, pitch)
    return np.append(marks, high)


def _tick_text(run: Run, kind: str, value: float) -> str:
    if kind == "bytes":
        capacity = run.machine.sram_bytes / 1024
        return f"{value / 1024:.3g} KB of {capacity:.3g}"
    if kind == "load":
        return f"{value:.3g}/cycle"
    if kind == "words":
        return count(value)
    return f"{100 * value:.3g} %"


def _outlines(run: Run, cursor: Cursor) -> tuple[Outline, ...]:
    view = cursor.viewport.rect
    capacity = run.machine.sram_bytes
    sizes = {row.name: row.sram_bytes for row in run.compiled.report.rows}
    found: dict[tuple[int, int, int, int], Outline] = {}
    for kernel in run.program.kernels:
        region = kernel.region
        if not region.overlaps(view):
            continue
        row, col = max(region.row, view.row), max(region.col, view.col)
        box = (row, col, min(region.end_row, view.end_row) - row,
               min(region.end_col, view.end_col) - col)  # fmt: skip
        selected = cursor.selection.kernel == kernel.id
        severity = "alert" if sizes.get(kernel.id, 0) > capacity else "ok"
        other = found.get(box)
        if other is not None:
            name = f"{other.name}, {kernel.id}"
            selected = selected or other.selected
            severity = "alert" if "alert" in (severity, other.severity) else severity
        else:
            name = kernel.id
        found[box] = Outline(name, *box, selected, severity)
    return tuple(found.values())


def _assess(
    run: Run, metric: Metric, window: np.ndarray, viewport: Viewport, step: int
) -> tuple[str, str]:
    if metric.kind == "category":
        return "ok", _shares(metric, window)
    start, end = run.step_bounds(step)
    cycles = end - start
    row, col = divmod(int(np.argmax(window)), window.shape[1])
    top = float(window[row, col])
    owner = run.execution.fields.kernel_at(viewport.row + row, viewport.col + col, step)
    place = f"PE ({viewport.row + row}, {viewport.col + col})" + (f" of {owner}" if owner else "")
    busy = int(np.count_nonzero(window))
    if metric.kind == "bytes" and top > run.machine.sram_bytes:
        over = int((window > run.machine.sram_bytes).sum())
        return "alert", (
            f"{over:,} PEs need more than their {run.machine.sram_bytes:,} B of SRAM; "
            f"the fullest, {place}, needs {int(top):,} B"
        )
    if top <= 0:
        return "ok", f"{metric.label}: nothing in this view in this step"
    text = f"{metric.label}: highest {amount(top, metric.kind)} at {place}"
    if metric.kind == "load":
        text += f" ({amount(round(top * cycles), 'words')} in this step)"
    text += f", {busy:,} of {window.size:,} PEs above zero"
    if metric.id.startswith("link_") and top >= HOT_LINK and cycles >= _LONG_STEP:
        return "warn", f"{text}: at least {100 * HOT_LINK:.0f} % of what a link carries"
    return "ok", text


def _shares(metric: Metric, window: np.ndarray) -> str:
    names = categories_of(metric.id)
    counts = np.bincount(window.ravel(), minlength=len(names))
    order = np.argsort(-counts, kind="stable")[:4]
    parts = [f"{names[i]} {percent(counts[i] / window.size)}" for i in order if counts[i]]
    return f"PEs by {metric.label}: " + ", ".join(parts)
