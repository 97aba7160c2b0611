"""Maps of causes: what every PE does in a step and over the run, painted from classes of PEs.

Knows no links and no bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.causes import CAUSES
from engine.geometry import Rect
from engine.inside import DEFECTIVE, INSIDE, INSIDE_CODES, UNASSIGNED, overlap
from engine.profile import Profile
from engine.program import Program
from engine.steps import StepTables
from engine.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class CauseMaps:
    """Where the cycles of a run go, PE by PE."""

    program: Program
    profiles: dict[str, Profile]
    timeline: Timeline
    tables: StepTables

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, cols) of every map"""
        return self.program.machine.rows, self.program.machine.cols

    def share(self, cause: int, step: int) -> np.ndarray:
        """Return the share of a step that each PE spends on a cause, float32 0..1."""
        cycles = float(self.timeline.times[step + 1] - self.timeline.times[step])
        shares = np.zeros(self.shape, np.float32)
        if cause == UNASSIGNED:
            shares[:] = 1
        for region, (rect, _) in enumerate(self.program.areas()):
            index = int(self.tables.active[region, step])
            if index < 0:
                shares[rect.slices()] = self.tables.idle[region, step] == cause
                continue
            shares[rect.slices()] = CAUSES[cause] == "imbalance"
            if cause in INSIDE_CODES:
                inside = self.overlap(index, slice(step, step + 1))[0]
                table = (inside[..., INSIDE.index(CAUSES[cause])] / cycles).astype(np.float32)
                shares[self.program.kernels[index].region.slices()] = self._by_class(index, table)
        for row, col in self.program.machine.defects:
            shares[row, col] = cause == DEFECTIVE
        return shares

    def maximum(self, cause: int) -> np.ndarray:
        """Return each PE's highest share of a cause in any step, float32 0..1."""
        cycles = np.diff(self.timeline.times)
        most = np.zeros(self.shape, np.float32)
        for region, (rect, kernels) in enumerate(self.program.areas()):
            most[rect.slices()] = bool((self.tables.idle[region] == cause).any())
            if cause not in INSIDE_CODES:
                continue
            for index in kernels:
                inside = self.overlap(index, slice(None))[..., INSIDE.index(CAUSES[cause])]
                table = (inside / cycles[:, None]).max(axis=0).astype(np.float32)
                mine = most[self.program.kernels[index].region.slices()]
                np.maximum(mine, self._by_class(index, table), out=mine)
        return most

    def total(self, cause: int) -> np.ndarray:
        """Return the cycles of a cause over the run, int64, from profiles and gaps, not steps."""
        cycles = np.diff(self.timeline.times)
        total = np.zeros(self.shape, np.int64)
        if cause == UNASSIGNED:
            total[:] = self.timeline.makespan
        for region, (rect, kernels) in enumerate(self.program.areas()):
            total[rect.slices()] = cycles[self.tables.idle[region] == cause].sum()
            if cause in INSIDE_CODES:
                for index, count in self._alike(kernels):
                    self._add_instances(total, rect, index, cause, count)
        for row, col in self.program.machine.defects:
            total[row, col] = self.timeline.makespan if cause == DEFECTIVE else 0
        return total

    def _alike(self, kernels: Sequence[int]) -> list[tuple[int, int]]:
        """Return one kernel of each sort, and how many have its profile on its PEs."""
        sorts: dict[tuple[int, Rect], list[int]] = {}
        for index in kernels:
            kernel = self.program.kernels[index]
            sorts.setdefault((id(self.profiles[kernel.id]), kernel.region), []).append(index)
        return [(alike[0], len(alike)) for alike in sorts.values()]

    def _add_instances(
        self, total: np.ndarray, rect: Rect, index: int, cause: int, count: int
    ) -> None:
        """Add the cycles of a cause inside all instances of `count` kernels like one, in place."""
        kernel, samples = self.program.kernels[index], self.program.samples * count
        profile = self.profiles[kernel.id]
        once = overlap(profile, np.zeros(1, np.int64), np.array([profile.length]))[0]
        table = samples * once[..., INSIDE.index(CAUSES[cause])]
        mine = total[kernel.region.slices()]
        if CAUSES[cause] == "imbalance" and kernel.region != rect:
            total[rect.slices()] += samples * profile.length
            mine -= samples * profile.length
        mine += self._by_class(index, table)

    def dominant(self, step: int) -> np.ndarray:
        """Return the cause that takes most of a step on each PE, uint8 index in CAUSES."""
        codes = np.full(self.shape, UNASSIGNED, np.uint8)
        for region, (rect, _) in enumerate(self.program.areas()):
            index = int(self.tables.active[region, step])
            if index < 0:
                codes[rect.slices()] = self.tables.idle[region, step]
                continue
            codes[rect.slices()] = CAUSES.index("imbalance")
            inside = self.overlap(index, slice(step, step + 1))[0]
            table = INSIDE_CODES[inside.argmax(axis=-1)]
            codes[self.program.kernels[index].region.slices()] = self._by_class(index, table)
        for row, col in self.program.machine.defects:
            codes[row, col] = DEFECTIVE
        return codes

    def overlap(self, index: int, steps: slice) -> np.ndarray:
        """Return the cycles of a kernel by inside cause, int64 (steps, classes, 5)."""
        profile = self.profiles[self.program.kernels[index].id]
        before, after = self.tables.instance(index, profile.length, steps)
        return overlap(profile, before, after)

    def _by_class(self, index: int, table: np.ndarray) -> np.ndarray:
        profile = self.profiles[self.program.kernels[index].id]
        return np.asarray(table[profile.pe_class])
