"""What every kernel, transfer and slot did up to each step boundary: the timeline as tables.

Made once a run from the timeline; fields and sums are differences of neighbouring columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.causes import Gaps
from engine.program import Program
from engine.timeline import Timeline
from engine.timing.net import RATE_UNIT

RUNNING = 255
"""cause code of a region in a step in which its instance runs"""


@dataclass(frozen=True, slots=True, eq=False)
class StepTables:
    """Cumulative amounts at the boundaries of all steps."""

    run: np.ndarray
    """int64 (K + W, steps + 1) cycles each kernel, then each weight stream, has run"""
    moved: np.ndarray
    """int64 (T, steps + 1) words of each transfer that have left"""
    idle: np.ndarray
    """uint8 (G, steps) cause of a region between instances, RUNNING inside one"""
    active: np.ndarray
    """int32 (G, steps) kernel that runs on a region, -1 for none"""
    alive: np.ndarray
    """bool (K, steps) an instance has started and not ended, stalls included"""

    @classmethod
    def of(
        cls, program: Program, lengths: Mapping[str, int], timeline: Timeline, gaps: Gaps
    ) -> StepTables:
        """Tabulate a timeline."""
        times = timeline.times
        kernels = range(len(program.kernels) + len(program.streams))
        run = np.stack([_run_cycles(timeline, k, times) for k in kernels])
        moved = [_moved_words(timeline, t, times) for t in range(len(program.transfers))]
        stacked = np.stack(moved) if moved else np.zeros((0, len(times)), np.int64)
        idle, active = _region_codes(program, timeline, gaps, run)
        alive = _alive(timeline, len(program.kernels))
        return cls(run, stacked, idle, active, alive)

    def instance(
        self, kernel: int, length: int, steps: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the progress (cycles inside the instance) at both ends of steps."""
        before, after = self.run[kernel][:-1][steps], self.run[kernel][1:][steps]
        base = before // length * length
        return before - base, after - base


def _run_cycles(timeline: Timeline, kernel: int, times: np.ndarray) -> np.ndarray:
    mine = timeline.stall_kernel == kernel
    stops = np.concatenate([timeline.end[kernel], timeline.stall_start[mine]])
    starts = np.concatenate([timeline.start[kernel], timeline.stall_end[mine]])
    return np.asarray(_elapsed(np.sort(starts), times) - _elapsed(np.sort(stops), times))


def _elapsed(marks: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Sum over marks of the cycles since each, at every time."""
    count = np.searchsorted(marks, times, side="right")
    sums = np.concatenate([[0], np.cumsum(marks)])
    return np.asarray(count * times - sums[count])


def _moved_words(timeline: Timeline, transfer: int, times: np.ndarray) -> np.ndarray:
    low, high = timeline.segment_start[transfer : transfer + 2]
    if low == high:
        return np.zeros(len(times), np.int64)
    last = np.searchsorted(timeline.segment_t0[low:high], times, side="right") - 1
    at = low + np.maximum(last, 0)
    words = timeline.chunk_words[transfer]
    spent = np.minimum(times, timeline.segment_t1[at]) - timeline.segment_t0[at]
    units = timeline.segment_before[at] + timeline.segment_rate[at] * spent
    amount = timeline.segment_chunk[at] * words + np.minimum(units // RATE_UNIT, words)
    return np.where(last >= 0, amount, 0)


def _region_codes(
    program: Program, timeline: Timeline, gaps: Gaps, run: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (cause between instances, kernel running) of every region in every step."""
    areas = program.areas()
    idle = np.full((len(areas), timeline.steps), RUNNING, np.uint8)
    active = np.full((len(areas), timeline.steps), -1, np.int32)
    first = np.searchsorted(timeline.times, gaps.t0)
    last = np.searchsorted(timeline.times, gaps.t1)
    for region, start, end, cause in zip(gaps.region, first, last, gaps.cause, strict=True):
        if region < len(areas):
            idle[region, start:end] = cause
    for region, (_, kernels) in enumerate(areas):
        for kernel in kernels:
            active[region, np.diff(run[kernel]) > 0] = kernel
    return idle, active


def _alive(timeline: Timeline, kernels: int) -> np.ndarray:
    at = timeline.times[:-1]
    started = [np.searchsorted(s, at, side="right") for s in timeline.start[:kernels]]
    ended = [np.searchsorted(e, at, side="right") for e in timeline.end[:kernels]]
    return np.asarray(np.stack(started) > np.stack(ended))


def held_chunks(begun: np.ndarray, freed: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the chunks held at each time: begun and not yet freed, int32."""
    held = np.searchsorted(np.sort(begun), at, side="right")
    held -= np.searchsorted(np.sort(freed), at, side="right")
    return held.astype(np.int32)
