"""Words on every link and ramp in a step, from the patterns of whatever moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from engine.load import add_patterns
from engine.program import Program
from engine.steps import StepTables
from engine.tallies import Tallies
from engine.transfers import Pattern, busiest_words, leg_patterns, transfer_patterns


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """Something that loads links: a transfer, a weight stream, or traffic inside a kernel."""

    name: str
    is_kernel: bool
    index: int
    """row in the step tables"""
    unit: int
    """amount in the tables after which the patterns' words have passed once: words of a chunk on
    the busiest link, or cycles of an instance"""
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """All flows of a run."""

    shape: tuple[int, int]
    flows: tuple[Flow, ...]
    tables: StepTables
    by_row: dict[tuple[bool, int], Flow] = field(init=False)
    """flows by table and row"""

    def __post_init__(self) -> None:
        rows = {(flow.is_kernel, flow.index): flow for flow in self.flows}
        object.__setattr__(self, "by_row", rows)

    @classmethod
    def of(cls, program: Program, lengths: dict[str, int], tables: StepTables) -> Traffic:
        """Collect the flows of a program."""
        flows = []
        for index, transfer in enumerate(program.transfers):
            patterns = tuple(transfer_patterns(transfer.legs))
            unit = busiest_words(patterns)
            if unit:
                flows.append(Flow(transfer.id, False, index, unit, patterns))
        for index, kernel in enumerate(program.kernels):
            own = tuple(p for leg in kernel.legs for p in leg_patterns(leg))
            if own:
                flows.append(Flow(kernel.id, True, index, lengths[kernel.id], own))
        for index, stream in enumerate(program.streams, len(program.kernels)):
            own = tuple(transfer_patterns(stream.legs))
            flows.append(Flow(stream.id, True, index, stream.cycles, own))
        return cls((program.machine.rows, program.machine.cols), tuple(flows), tables)

    def amounts(self, flow: Flow) -> np.ndarray:
        """Return a flow's cumulative amount at every step boundary, int64 (steps + 1,)."""
        return self._tallies(flow).row(flow.index)

    def growths(self, flow: Flow) -> tuple[np.ndarray, np.ndarray]:
        """Return (steps in which a flow moves, by how much its amount grows in them)."""
        steps, before, after = self._tallies(flow).grown(flow.index)
        return steps, np.asarray(after - before)

    def _tallies(self, flow: Flow) -> Tallies:
        return self.tables.run if flow.is_kernel else self.tables.moved

    def plane(self, plane: str, step: int) -> np.ndarray:
        """Return the words on one plane in a step, int32 (rows, cols)."""
        return self._raster(plane, self._moving(plane, self._in_step(step)))

    def sure_plane(self, plane: str, step: int) -> np.ndarray:
        """Return the words on one plane in a step, one less a flow, int32 (rows, cols).

        Words are whole, so that up to one of each flow may belong to a neighbouring step.
        """
        moving = self._moving(plane, self._in_step(step))
        return self._raster(plane, ((p, np.maximum(words - 1, 0)) for p, words in moving))

    def plane_total(self, plane: str) -> np.ndarray:
        """Return the words on one plane over the run, int64 (rows, cols)."""
        totals = (self.tables.moved.totals(), self.tables.run.totals())
        moving = ((flow, 0, int(totals[flow.is_kernel][flow.index])) for flow in self.flows)
        return self._raster(plane, self._moving(plane, moving), np.dtype(np.int64))

    def at(self, row: int, col: int, plane: str, step: int) -> int:
        """Return the words on one link or ramp of one PE in a step."""
        words = 0
        for pattern, amount in self._moving(plane, self._in_step(step)):
            line, place = (row, col) if pattern.axis == "x" else (col, row)
            inside = 0 <= line - pattern.lines_start < pattern.lines
            offset = place - pattern.start
            if inside and 0 <= offset < len(amount):
                words += int(amount[offset])
        return words

    def rates(self, plane: str, step: int) -> Iterator[tuple[Flow, Pattern]]:
        """Yield the flows that move in a step, with their patterns on a plane."""
        for flow, _, _ in self._in_step(step):
            for pattern in flow.patterns:
                if pattern.plane == plane:
                    yield flow, pattern

    def plane_sums(self, plane: str) -> np.ndarray:
        """Return the words on one plane summed over PEs, float64 (steps,)."""
        sums = np.zeros(self.tables.moved.steps)
        for flow in self.flows:
            total = sum(p.total() for p in flow.patterns if p.plane == plane)
            if total:
                steps, growths = self.growths(flow)
                sums[steps] += growths * (total / flow.unit)
        return sums

    def plane_bounds(self, plane: str) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of the highest `sure_plane`, at least and at most, float64 (steps,).

        At least the most words that one flow puts on a link, at most the sum of these.
        """
        largest = np.zeros(self.tables.moved.steps)
        summed = np.zeros_like(largest)
        for flow in self.flows:
            most = max((int(p.words.max()) for p in flow.patterns if p.plane == plane), default=0)
            if most:
                steps, growths = self.growths(flow)
                words = np.maximum(growths * (most / flow.unit) - 1, 0)
                largest[steps] = np.maximum(largest[steps], words)
                summed[steps] += words
        return largest, summed

    def _in_step(self, step: int) -> Iterator[tuple[Flow, int, int]]:
        """Yield the flows that move in a step, with their amounts before and after it."""
        for is_kernel, tallies in ((False, self.tables.moved), (True, self.tables.run)):
            for row, before, after in zip(*tallies.in_step(step), strict=True):
                flow = self.by_row.get((is_kernel, int(row)))
                if flow is not None:
                    yield flow, int(before), int(after)

    def _moving(
        self, plane: str, amounts: Iterable[tuple[Flow, int, int]]
    ) -> Iterator[tuple[Pattern, np.ndarray]]:
        for flow, before, after in amounts:
            for pattern in flow.patterns:
                if pattern.plane == plane and after > before:
                    words = pattern.words * after // flow.unit
                    yield pattern, words - pattern.words * before // flow.unit

    def _raster(
        self,
        plane: str,
        moving: Iterator[tuple[Pattern, np.ndarray]],
        dtype: np.dtype = np.dtype(np.int32),  # noqa: B008
    ) -> np.ndarray:
        words = np.zeros(self.shape, dtype)
        items = list(moving)
        along = [item for item in items if item[0].axis == "x"]
        down = [item for item in items if item[0].axis == "y"]
        if along:
            add_patterns(words, along)
        if down:
            add_patterns(words.T, down)
        return words
