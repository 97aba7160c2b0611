"""The hottest places of a metric: a rule of its own, read by the cursor and the views."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.runs.map_metrics import MAP_METRICS
from app.runs.run import Run
from app.units import amount

COUNT = 10
"""places kept"""


@dataclass(frozen=True, slots=True)
class HotPlace:
    """One PE that stands out."""

    row: int
    col: int
    value: float
    """in the metric's unit; fractions 0..1"""
    text: str
    """such as 'PE (3, 4): 0.42 wavelets a cycle'"""


def hot_places(run: Run, metric_id: str, step: int) -> tuple[HotPlace, ...]:
    """Return at most ten PEs with the highest value, one a kernel first, highest first.

    Category metrics have none; zeros are never hot. Ties go to the north-west.
    """
    metric = MAP_METRICS[metric_id]
    if metric.kind == "category":
        return ()
    field = run.execution.fields.field(metric_id, step)
    places = [_hottest(run, field, metric_id, kernel.region.slices())
              for kernel in run.program.kernels]  # fmt: skip
    places.append(_hottest(run, field, metric_id, (slice(None), slice(None))))
    best = {(p.row, p.col): p for p in places if p is not None}
    ranked = sorted(best.values(), key=lambda p: (-p.value, p.row, p.col))
    return tuple(ranked[:COUNT])


def _hottest(
    run: Run, field: np.ndarray, metric_id: str, part: tuple[slice, slice]
) -> HotPlace | None:
    window = field[part]
    if window.size == 0:
        return None
    row, col = divmod(int(np.argmax(window)), window.shape[1])
    value = float(window[row, col])
    if value <= 0:
        return None
    row, col = row + (part[0].start or 0), col + (part[1].start or 0)
    return HotPlace(
        row, col, value, f"PE ({row}, {col}): {amount(value, MAP_METRICS[metric_id].kind)}"
    )
