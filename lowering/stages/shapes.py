"""What a kernel costs at each size, for all kernels at once.

`ShapeTable` is what sizing hands over, one a kernel. `ShapeStack` holds all of them in one
padded array, so that one question about a bottleneck is one numpy expression. Knows no
positions on the grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

BIG = 1 << 60
"""cycles of a size that cannot hold the kernel"""

MAX_HEIGHTS = 96
"""shelf heights tried; more are thinned out, which keeps a compile inside its budget"""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Widths = NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class ShapeTable:
    """Cycles of one kernel over candidate sizes."""

    heights: Ints
    """candidate heights in PEs, ascending, int64 (H,)"""
    widths: Ints
    """candidate widths of each height in PEs, ascending along W, int64 (H, W)"""
    cycles: Ints
    """cycles at (height, width), not rising along W, BIG where SRAM is short, int64 (H, W)"""

    def __post_init__(self) -> None:
        high = self.heights.shape[0]
        if self.widths.shape != self.cycles.shape or self.widths.shape[:1] != (high,):
            raise ValueError(
                f"shape table: {high} heights need equal (heights, widths) arrays, got widths "
                f"{self.widths.shape} and cycles {self.cycles.shape}"
            )
        if high == 0 or self.widths.shape[1] == 0:
            raise ValueError("shape table is empty: give one height and one width at least")
        if (np.diff(self.heights) <= 0).any() or self.heights[0] < 1:
            raise ValueError(f"shape table: heights must be >= 1 and ascend, got {self.heights}")


@dataclass(frozen=True, slots=True, eq=False)
class ShapeStack:
    """The tables of all kernels on the heights that some kernel offers."""

    rows: int
    """rows of the grid"""
    cols: int
    """columns of the grid"""
    heights: Ints
    """heights in PEs, ascending, int64 (S,)"""
    widths: Ints
    """width of each candidate, last column past the grid, int64 (U, S, W + 1)"""
    offered: Ints
    """cycles of each candidate, BIG where it is not to be used, int64 (U, S, W)"""
    cycles: Ints
    """least cycles up to each candidate, BIG where none holds, int64 (U, S, W)"""
    table_of: Ints
    """row of `widths` of each kernel, int64 (n,)"""

    @property
    def count(self) -> int:
        """number of kernels"""
        return int(self.table_of.shape[0])

    def least_widths(self, tau: int, limit: int) -> Widths:
        """Return the least width meeting `tau` cycles at each height, int16 (n, S).

        `limit + 1` stands for: none up to `limit` columns does.
        """
        return self._least(tau, limit)[self.table_of]

    def of_kernels(self, start: int, stop: int) -> ShapeStack:
        """Return the stack of the kernels from `start` on, `stop` excluded."""
        return replace(self, table_of=self.table_of[start:stop])

    def within_aspect(self, aspect: int) -> ShapeStack:
        """Return the stack without the sizes whose sides differ by more than a factor."""
        high, wide = self.heights[None, :, None], self.widths[:, :, :-1]
        slim = (high > aspect * wide) | (wide > aspect * high)
        offered = np.where(slim, BIG, self.offered)
        return replace(self, offered=offered, cycles=np.minimum.accumulate(offered, axis=2))

    def best_cycles(self) -> Ints:
        """Return the cycles of each kernel at its fastest size, int64 (n,)."""
        best: Ints = self.cycles[:, :, -1].min(axis=1)[self.table_of]
        return best

    def least_areas(self, tau: int) -> Ints:
        """Return the fewest PEs that meet `tau`, int64 (n,); rows x cols + 1 where none do."""
        widths = self._least(tau, self.cols).astype(np.int64)
        areas = np.where(widths <= self.cols, widths * self.heights, self.rows * self.cols + 1)
        least: Ints = areas.min(axis=1)[self.table_of]
        return least

    def cycles_at(self, kernel: int, height: int, width: int) -> int:
        """Return the cycles of a kernel at a size of its table."""
        table = int(self.table_of[kernel])
        level = int(np.searchsorted(self.heights, height))
        at = int(np.searchsorted(self.widths[table, level, :-1], width, side="right")) - 1
        return int(self.cycles[table, level, at])

    def _least(self, tau: int, limit: int) -> Widths:
        first = (self.cycles > tau).sum(axis=2)
        found = np.take_along_axis(self.widths, first[:, :, None], axis=2)[:, :, 0]
        return np.minimum(found, limit + 1).astype(np.int16)


def stack_shapes(
    tables: Sequence[ShapeTable], rows: int, cols: int, cap_pes: Mapping[int, int]
) -> ShapeStack:
    """Bring all tables to common heights; sizes beyond the grid or a cap are dropped."""
    keys: dict[tuple[int, int], int] = {}
    chosen: list[tuple[ShapeTable, int]] = []
    table_of = np.empty(len(tables), np.int64)
    for kernel, table in enumerate(tables):
        cap = cap_pes.get(kernel, rows * cols)
        key = (id(table), cap)
        if key not in keys:
            keys[key] = len(chosen)
            chosen.append((table, cap))
        table_of[kernel] = keys[key]
    heights = _common_heights([table for table, _ in chosen], rows)
    wide = max(table.widths.shape[1] for table, _ in chosen)
    widths = np.full((len(chosen), len(heights), wide + 1), cols + 1, np.int64)
    cycles = np.full((len(chosen), len(heights), wide), BIG, np.int64)
    for at, (table, cap) in enumerate(chosen):
        _, mine, ours = np.intersect1d(table.heights, heights, return_indices=True)
        if not len(mine):
            continue
        own = table.widths[mine]
        held = (own <= cols) & (own * table.heights[mine, None] <= cap)
        widths[at, ours, : own.shape[1]] = own
        cycles[at, ours, : own.shape[1]] = np.where(held, table.cycles[mine], BIG)
    least = np.minimum.accumulate(cycles, axis=2)
    return ShapeStack(rows, cols, heights, widths, cycles, least, table_of)


def _common_heights(tables: Sequence[ShapeTable], rows: int) -> Ints:
    """Return the union of all heights that fit, thinned evenly in the logarithm.

    The ends of each table stay, so no kernel loses its last size.
    """
    every = np.unique(np.concatenate([table.heights for table in tables]))
    fitting: Ints = every[every <= rows]
    if len(fitting) <= MAX_HEIGHTS:
        return fitting if len(fitting) else np.array([rows], np.int64)
    wanted = np.geomspace(fitting[0], fitting[-1], MAX_HEIGHTS)
    own = [table.heights[table.heights <= rows] for table in tables]
    ends = [side for heights in own if len(heights) for side in (heights[0], heights[-1])]
    spread = fitting[np.searchsorted(fitting, np.floor(wanted))]
    picked: Ints = np.unique(np.concatenate([spread, np.array(ends, np.int64)]))
    return picked
