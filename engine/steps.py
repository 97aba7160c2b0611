"""What every kernel, transfer and slot did up to each step boundary: the timeline as tables.

Made once a run from the timeline; fields and sums are differences of neighbouring columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.causes import Gaps
from engine.program import Program
from engine.tallies import Held, Tallies
from engine.timeline import Timeline
from engine.timing.net import RATE_UNIT

RUNNING = 255
"""cause code of a region in a step in which its instance runs"""


@dataclass(frozen=True, slots=True, eq=False)
class StepTables:
    """Cumulative amounts at the boundaries of all steps."""

    run: Tallies
    """cycles each kernel, then each weight stream, has run"""
    moved: Tallies
    """words of each transfer that have left"""
    idle: np.ndarray
    """uint8 (G, steps) cause of a region between instances, RUNNING inside one"""
    active: np.ndarray
    """int32 (G, steps) kernel that runs on a region, -1 for none"""
    alive: tuple[Held, ...]
    """(K,) instances started and not ended, stalls included: at most one"""

    @classmethod
    def of(
        cls, program: Program, lengths: Mapping[str, int], timeline: Timeline, gaps: Gaps
    ) -> StepTables:
        """Tabulate a timeline."""
        run = _run_cycles(timeline, len(program.kernels) + len(program.streams))
        idle, active = _region_codes(program, timeline, gaps, run)
        at = timeline.times[:-1]
        alive = (
            Held.of(timeline.start[k], timeline.end[k], at) for k in range(len(program.kernels))
        )
        return cls(run, _moved_words(timeline), idle, active, tuple(alive))

    def instance(
        self, kernel: int, length: int, steps: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the progress (cycles inside the instance) at both ends of steps."""
        amounts = self.run.row(kernel, steps)
        base = amounts[:-1] // length * length
        return amounts[:-1] - base, amounts[1:] - base

    def running(self, kernel: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the steps in which a kernel runs, and the progress at both ends of each."""
        steps, before, after = self.run.grown(kernel)
        base = before // length * length
        return steps, before - base, after - base


def _run_cycles(timeline: Timeline, rows: int) -> Tallies:
    """Between the start and end of an instance each cycle counts that is not stalled."""
    instances = np.repeat(np.arange(rows), timeline.samples)
    row = np.concatenate([instances, timeline.stall_kernel])
    starts = np.concatenate([timeline.start[:rows].ravel(), timeline.stall_end])
    stops = np.concatenate([timeline.end[:rows].ravel(), timeline.stall_start])
    row, starts, stops = np.sort(row), _by_row(row, starts), _by_row(row, stops)
    times = timeline.times
    span, step = _steps_of(times, starts, stops)
    cycles = np.diff(times)[step]
    after = np.cumsum(cycles)
    row = row[span]
    begun = (after - cycles)[np.searchsorted(row, np.arange(rows))[row]]
    return Tallies.of(
        (rows, timeline.steps), row, step, np.stack([after - cycles - begun, after - begun])
    )


def _by_row(row: np.ndarray, cycles: np.ndarray) -> np.ndarray:
    return np.asarray(cycles[np.lexsort((cycles, row))])


def _steps_of(
    times: np.ndarray, starts: np.ndarray, stops: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (index of the span, step) of every step in each span of cycles, in order."""
    first, last = np.searchsorted(times, starts), np.searchsorted(times, stops)
    span = np.repeat(np.arange(len(starts)), last - first)
    before = np.cumsum(last - first) - (last - first)
    return span, np.arange(len(span)) - before[span] + first[span]


def _moved_words(timeline: Timeline) -> Tallies:
    """Words of the spans of constant rate; they begin and end with steps."""
    counts = np.diff(timeline.segment_start)
    span, step = _steps_of(timeline.times, timeline.segment_t0, timeline.segment_t1)
    transfer = np.repeat(np.arange(len(counts)), counts)[span]
    words = timeline.chunk_words[transfer]
    moved = timeline.segment_chunk[span] * words
    amounts = []
    for cycle in (timeline.times[step], timeline.times[step + 1]):
        spent = cycle - timeline.segment_t0[span]
        units = timeline.segment_before[span] + timeline.segment_rate[span] * spent
        amounts.append(moved + np.minimum(units // RATE_UNIT, words))
    return Tallies.of((len(counts), timeline.steps), transfer, step, np.stack(amounts))


def _region_codes(
    program: Program, timeline: Timeline, gaps: Gaps, run: Tallies
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
            active[region, run.grown(kernel)[0]] = kernel
    return idle, active
