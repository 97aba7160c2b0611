"""How fast every flow of a run moves: the rates of the timeline, constant inside a step."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np

from app.runs.run import Run
from engine.timing.net import RATE_UNIT
from engine.traffic import Flow

_ROWS = 256
"""rows of rates kept a run: one of 64,000 steps takes 256 KB"""


class Rates(Protocol):
    """Wavelets a cycle on the busiest link of each flow; kernels: 1 while running."""

    @property
    def shape(self) -> tuple[int, int]:
        """(flows, steps)"""

    def row(self, flow: int) -> np.ndarray:
        """Return a flow's rate in every step, float32 (steps,)."""

    def at(self, step: int) -> np.ndarray:
        """Return every flow's rate in a step, float64 (flows,)."""

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the steps between which each flow moves, int64 (flows,) each; [first, end)."""


class RunRates:
    """The rates of a run's flows, a row or a step at a time: all of a deep model take gigabytes."""

    def __init__(self, run: Run, flows: tuple[Flow, ...]) -> None:
        self.shape = (len(flows), run.timeline.steps)
        self._flows = flows
        self._timeline = run.timeline
        self._ran = run.execution.fields.tables.run
        self._index = np.array([flow.index for flow in flows], np.int64)
        self._is_kernel = np.array([flow.is_kernel for flow in flows], bool)
        self.row = lru_cache(maxsize=_ROWS)(self._row)

    def _row(self, flow: int) -> np.ndarray:
        timeline, index = self._timeline, int(self._index[flow])
        rates = np.zeros(self.shape[1], np.float32)
        if self._is_kernel[flow]:
            steps, before, after = self._ran.grown(index)
            rates[steps] = (after - before) / np.diff(timeline.times)[steps]
            return rates
        mine = slice(*timeline.segment_start[index : index + 2])
        first, end = (
            np.searchsorted(timeline.times, times[mine])
            for times in (timeline.segment_t0, timeline.segment_t1)
        )
        change = np.zeros(self.shape[1] + 1, np.int64)
        np.add.at(change, first, timeline.segment_rate[mine])
        np.subtract.at(change, end, timeline.segment_rate[mine])
        rates[:] = np.cumsum(change[:-1]) / RATE_UNIT
        return rates

    def at(self, step: int) -> np.ndarray:
        timeline = self._timeline
        begin, end = timeline.times[step : step + 2].tolist()
        moved = np.zeros(len(timeline.segment_start) - 1)
        alive = np.flatnonzero((timeline.segment_t0 <= begin) & (timeline.segment_t1 > begin))
        owner = np.searchsorted(timeline.segment_start, alive, side="right") - 1
        moved[owner] = timeline.segment_rate[alive] / RATE_UNIT
        ran = np.zeros(self._ran.rows)
        rows, before, after = self._ran.in_step(step)
        ran[rows] = (after - before) / (end - begin)
        found = np.zeros(self.shape[0])
        found[self._is_kernel] = ran[self._index[self._is_kernel]]
        found[~self._is_kernel] = moved[self._index[~self._is_kernel]]
        return found

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        timeline, ran = self._timeline, self._ran
        first, end = np.zeros((2, self.shape[0]), np.int64)
        for flow, (index, is_kernel) in enumerate(zip(self._index, self._is_kernel, strict=True)):
            if is_kernel:
                steps = ran.grown(int(index))[0]
                if len(steps):
                    first[flow], end[flow] = steps[0], steps[-1] + 1
                continue
            low, high = timeline.segment_start[index : index + 2]
            if low < high:
                edges = timeline.segment_t0[low], timeline.segment_t1[low:high].max()
                first[flow], end[flow] = np.searchsorted(timeline.times, edges)
        return first, end
