"""A run as series over steps: what kernels do, hold and wait for. One row a kernel.

Read from the step tables, gaps and profiles of the engine; decides nothing. Knows no conditions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.runs.run import Run
from engine.causes import CAUSES
from engine.geometry import Rect
from engine.inside import overlap
from engine.steps import RUNNING

ALL = slice(None)
"""every kernel; a deep model is worked through in blocks of rows"""
INPUT_WAITS = ("wait-weights", "wait-host", "wait-fabric", "wait-input")
"""causes that are waits for something to come in"""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """What a tensor of one sample holds."""

    low: float
    """smallest finite element, NaN without any"""
    high: float
    has_nan: bool
    has_inf: bool


def kernel_utilization(
    run: Run, rows: slice = ALL, known: dict[Rect, np.ndarray] | None = None
) -> np.ndarray:
    """Return compute PE-cycles / PE-cycles of every kernel's region, float64 (kernels, steps).

    `known` keeps what was worked out for a region, for kernels that share it.
    """
    known = {} if known is None else known
    regions = [kernel.region for kernel in run.program.kernels[rows]]
    for region in regions:
        if region not in known:
            known[region] = region_utilization(run, region)
    return np.stack([known[region] for region in regions])


def region_utilization(run: Run, area: Rect) -> np.ndarray:
    """Return compute cycles / cycles of the PEs of a rectangle, float64 (steps,)."""
    fields = run.execution.fields
    work = np.zeros(run.timeline.steps)
    for index, kernel in enumerate(run.program.kernels):
        if not kernel.region.overlaps(area):
            continue
        box, profile = kernel.region, run.execution.profiles[kernel.id]
        inside = profile.pe_class[
            max(0, area.row - box.row) : area.end_row - box.row,
            max(0, area.col - box.col) : area.end_col - box.col,
        ]
        pes = np.bincount(inside.ravel(), minlength=len(profile.cycles))
        running, before, after = fields.tables.running(index, profile.length)
        work[running] += overlap(profile, before, after)[..., 0] @ pes
    return np.asarray(work / (np.diff(run.timeline.times) * area.area))


def samples_in_work(run: Run, rows: slice = ALL) -> np.ndarray:
    """Return the sample that each kernel works on, -1 for none, int64 (kernels, steps)."""
    begin = run.timeline.times[:-1]
    starts = run.timeline.start[: len(run.program.kernels)][rows]
    started = np.stack([np.searchsorted(s, begin, "right") for s in starts])
    alive = np.stack([held.row() for held in run.execution.fields.tables.alive[rows]])
    return np.where(alive > 0, started - 1, -1)


def samples_done(run: Run, rows: slice = ALL) -> np.ndarray:
    """Return the newest sample that each kernel has ended, -1 for none, int64 (kernels, steps)."""
    begin = run.timeline.times[:-1]
    ends = run.timeline.end[: len(run.program.kernels)][rows]
    return np.stack([np.searchsorted(e, begin, "right") - 1 for e in ends])


def samples_entered(run: Run) -> np.ndarray:
    """Return the newest sample that any kernel has started, int64 (1, steps)."""
    begin = run.timeline.times[:-1]
    first = run.timeline.start[: len(run.program.kernels)].min(axis=0)
    return np.asarray(np.searchsorted(first, begin, "right") - 1)[None]


def moments(run: Run, cycles: np.ndarray, rows: slice = ALL) -> np.ndarray:
    """Tell in which steps one of each kernel's moments begins the step, (kernels, steps).

    `cycles` is the timeline's, which has rows for weight streams after those of the kernels.
    """
    begin = run.timeline.times[:-1]
    mine = cycles[: len(run.program.kernels)][rows]
    return np.stack([np.isin(begin, times) for times in mine])


def cause_codes(run: Run, rows: slice = ALL) -> np.ndarray:
    """Return the cause of every region between instances, RUNNING inside, (kernels, steps)."""
    return np.asarray(run.execution.fields.tables.idle[[*run.program.regions_of_kernels()][rows]])


def cause_code(name: str) -> int:
    """Return a cause's code in `cause_codes`; KeyError for none."""
    codes = {cause: code for code, cause in enumerate(CAUSES)}
    return {**codes, "running": RUNNING}[name]


def waited(run: Run, rows: slice = ALL) -> np.ndarray:
    """Return how long each kernel has waited for input at the end of a step, (kernels, steps).

    Where kernels take turns only the one whose turn it is, or is next, waits.
    """
    waits = np.isin(cause_codes(run, rows), [CAUSES.index(cause) for cause in INPUT_WAITS])
    regions = [*run.program.regions_of_kernels()][rows]
    kernels = np.arange(len(run.program.kernels))[rows]
    waits &= _waiting(run)[regions] == kernels[:, None]
    cycles = np.diff(run.timeline.times)
    total = np.cumsum(waits * cycles, axis=1)
    at_rest = np.maximum.accumulate(np.where(waits, 0, total), axis=1)
    return np.asarray(np.where(waits, total - at_rest, 0))


def _waiting(run: Run) -> np.ndarray:
    """Return the kernel that waits on each region in each step, -1 for none, (regions, steps)."""
    gaps, found = run.execution.gaps, np.full((len(run.program.order), run.timeline.steps), -1)
    first, end = (np.searchsorted(run.timeline.times, cycles) for cycles in (gaps.t0, gaps.t1))
    for place in np.flatnonzero(gaps.region < len(found)).tolist():
        found[gaps.region[place], first[place] : end[place]] = gaps.kernel[place]
    return found


def has_values(run: Run) -> bool:
    """True when tensors of the run are there"""
    return bool(run.values) or run.computed is not None


def value_range(run: Run, tensor: str, sample: int) -> ValueRange | None:
    """Return what a tensor holds in a sample, None where it is not kept."""
    array = run.values.get(tensor) if sample == 0 else None
    if array is None and run.computed is not None:
        array = run.computed.values.tensors.get((tensor, sample))
    if array is None or array.size == 0:
        return None
    numbers = np.asarray(array, np.float64)
    finite = numbers[np.isfinite(numbers)]
    low, high = (finite.min(), finite.max()) if finite.size else (np.nan, np.nan)
    return ValueRange(
        float(low), float(high), bool(np.isnan(numbers).any()), bool(np.isinf(numbers).any())
    )
