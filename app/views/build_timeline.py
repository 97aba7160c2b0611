"""From a run to its timeline: binned series and kernel bars. A pure function; no screen."""

from __future__ import annotations

import numpy as np

from app.runs.run import Run
from app.units import amount, count, percent
from app.views.pooling import bin_series
from app.views.timeline import Bar, Series, TimelineView

MOST_BARS = 4000
"""bars handed out; a screen has fewer pixels"""


def view_timeline(
    run: Run, step: int, bins: int = 400, start: int = 0, end: int | None = None
) -> TimelineView:
    """Return series in `bins` bins and bars of the cycles [start, end).

    Raises:
        ValueError: an empty range, or no bins.
    """
    makespan = run.timeline.makespan
    end = makespan if end is None else min(end, makespan)
    if not 0 <= start < end:
        raise ValueError(f"cycles {start}..{end} hold nothing; the run has 0..{makespan - 1}")
    if not 1 <= bins <= 10_000:
        raise ValueError(f"{bins} bins asked for, must be 1..10000")
    bounds = run.step_bounds(step)
    bars, hidden = _bars(run, start, end)
    series = tuple(_series(run, name, start, end, bins) for name in _SERIES)
    top = series[0]
    return TimelineView(
        start=start, end=end, makespan=makespan, steps=run.timeline.steps, step=step,
        step_start=bounds[0], step_end=bounds[1], series=series,
        lanes=_lanes(run), bars=bars, hidden_bars=hidden,
        sentence=(
            f"{count(end - start)} of {count(makespan)} cycles; utilization is highest, "
            f"{percent(top.top)}, in step {top.top_step}"
        ),
    )  # fmt: skip


_SERIES = {
    # name: (metric, kind, unit)
    "utilization": ("utilization", "fraction", "share of working PEs"),
    "traffic": ("traffic", "load", "wavelets a cycle"),
    "SRAM live": ("sram_live", "bytes", "bytes on all PEs"),
}


def _series(run: Run, name: str, start: int, end: int, bins: int) -> Series:
    metric, kind, unit = _SERIES[name]
    timeline = run.timeline
    lengths = np.maximum(np.diff(timeline.times), 1)
    values = np.asarray(run.execution.fields.sums(metric), np.float64)
    if metric == "utilization":
        values = values / (lengths * max(1, run.machine.working_pes))
    elif metric == "traffic":
        values = values / lengths
    mean, peak = bin_series(timeline.times, values, start, end, bins)
    first = int(timeline.step_at(start))
    last = int(timeline.step_at(end - 1))
    top = first + int(np.argmax(values[first : last + 1]))
    most = float(values[top])
    return Series(name, kind, unit, tuple(mean.tolist()), tuple(peak.tolist()), most, top,
                  amount(most, kind))  # fmt: skip


def _lanes(run: Run) -> tuple[str, ...]:
    """Return the name of each row of the timeline: the kernels, then the weight streams."""
    program = run.program
    return (*(kernel.id for kernel in program.kernels), *(s.id for s in program.streams))


def _bars(run: Run, start: int, end: int) -> tuple[tuple[Bar, ...], int]:
    names = _lanes(run)
    begins, ends = run.timeline.start[: len(names)], run.timeline.end[: len(names)]
    lanes, samples = np.nonzero((begins < end) & (ends > start))
    length = ends[lanes, samples] - begins[lanes, samples]
    kept = np.argsort(-length, kind="stable")[:MOST_BARS]
    kept = kept[np.lexsort((lanes[kept], begins[lanes[kept], samples[kept]]))]
    bars = tuple(
        Bar(names[lane], int(lane), int(sample), int(begins[lane, sample]),
            int(ends[lane, sample]))
        for lane, sample in zip(lanes[kept], samples[kept], strict=True)
    )  # fmt: skip
    return bars, len(lanes) - len(bars)
