"""Where two runs differ, PE by PE: fields of a metric on one grid, B less A. Pure; no screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.commands import CommandError
from app.runs.map_metrics import MAP_METRICS
from app.runs.run import Run
from engine.metrics import Metric


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """B less A on the common grid."""

    metric: Metric
    what: str
    """run | step"""
    steps: tuple[int, int] | None
    """steps of A and B, None for the whole run"""
    unit: str
    """of `field`"""
    field: np.ndarray
    """float64 (rows, cols)"""
    remark: str
    """how two grids became one, empty where they are equal"""


def difference(a: Run, b: Run, metric_id: str, steps: tuple[int, int] | None = None) -> Difference:
    """Return a metric's difference over the run, or between a step of A and one of B.

    Over the run: shares of the makespan, wavelets a sample, the highest bytes. In a step: shares
    of the step, wavelets a cycle, bytes.

    Raises:
        CommandError: no such metric, or one without numbers.
    """
    metric = MAP_METRICS.get(metric_id)
    if metric is None:
        raise CommandError(f"there is no metric '{metric_id}'; metrics: {', '.join(MAP_METRICS)}")
    if metric.kind == "category":
        raise CommandError(f"the {metric.label} has no difference; choose a metric with numbers")
    if steps is None:
        fields = _over_run(a, metric), _over_run(b, metric)
        unit = {"fraction": "% of run", "load": "wavelets/sample"}.get(metric.kind, "bytes")
    else:
        fields = _in_step(a, metric, steps[0]), _in_step(b, metric, steps[1])
        unit = {"fraction": "% of step", "load": "wavelets/cycle"}.get(metric.kind, "bytes")
    grid, remark = common_grid(a, b, metric)
    first, second = (regrid(field, grid, metric.kind) for field in fields)
    return Difference(
        metric, "run" if steps is None else "step", steps, unit, second - first, remark
    )


def _over_run(run: Run, metric: Metric) -> np.ndarray:
    fields = run.execution.fields
    if metric.kind == "bytes":
        return np.asarray(fields.maximum(metric.id), np.float64)
    whole = run.timeline.makespan if metric.kind == "fraction" else run.program.samples
    return np.asarray(fields.total(metric.id), np.float64) / max(1, whole)


def _in_step(run: Run, metric: Metric, step: int) -> np.ndarray:
    return np.asarray(run.execution.fields.field(metric.id, step), np.float64)


def common_grid(a: Run, b: Run, metric: Metric) -> tuple[tuple[int, int], str]:
    """Return the grid on which two runs are compared, and a sentence where one is pooled."""
    grid = min(a.grid[0], b.grid[0]), min(a.grid[1], b.grid[1])
    if a.grid == b.grid:
        return grid, ""
    sizes = [f"{rows}x{cols}" for rows, cols in (a.grid, b.grid, grid)]
    how = "max" if metric.kind == "bytes" else "mean"
    return grid, (
        f"the grids differ ({sizes[0]} and {sizes[1]} PEs): both are pooled by {how} to "
        f"{sizes[2]}, so places are compared by their share of the grid"
    )


def regrid(field: np.ndarray, grid: tuple[int, int], kind: str) -> np.ndarray:
    """Return a field pooled to a grid that is no larger: bytes by max, others by mean."""
    if field.shape == grid:
        return field
    starts = [np.arange(n) * have // n for n, have in zip(grid, field.shape, strict=True)]
    if kind == "bytes":
        rows = np.maximum.reduceat(field, starts[0], axis=0)
        return np.asarray(np.maximum.reduceat(rows, starts[1], axis=1))
    rows = np.add.reduceat(field, starts[0], axis=0)
    sums = np.add.reduceat(rows, starts[1], axis=1)
    sizes = [np.diff(np.append(s, n)) for s, n in zip(starts, field.shape, strict=True)]
    return np.asarray(sums / np.outer(*sizes))


def pool_extremes(field: np.ndarray, height: int, width: int) -> tuple[np.ndarray, int, int]:
    """Return blocks as the value farthest from 0, and the block's rows and cols."""
    sizes = [-(-n // max(1, most)) for n, most in zip(field.shape, (height, width), strict=True)]
    if sizes == [1, 1]:
        return field, 1, 1
    starts = [np.arange(0, n, size) for n, size in zip(field.shape, sizes, strict=True)]
    ends = []
    for pick in (np.maximum, np.minimum):
        rows = pick.reduceat(field, starts[0], axis=0)
        ends.append(pick.reduceat(rows, starts[1], axis=1))
    high, low = ends
    return np.where(high >= -low, high, low), sizes[0], sizes[1]


def codes_of(field: np.ndarray, limit: float) -> np.ndarray:
    """Return codes of differences, uint8: 0 at -limit, 128 at 0, 255 at limit; read-only.

    What differs at all never gets the code of 0.
    """
    if limit <= 0:
        codes = np.full(field.shape, 128, np.uint8)
    else:
        scaled = np.clip(field / limit, -1.0, 1.0)
        codes = np.rint(128 + np.where(scaled > 0, 127 * scaled, 128 * scaled)).astype(np.uint8)
        codes[(codes == 128) & (field > 0)] = 129
        codes[(codes == 128) & (field < 0)] = 127
    codes.setflags(write=False)
    return codes
