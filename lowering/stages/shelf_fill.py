"""Turn chosen shelves into rectangles: who shares a column, how wide and how high each is.

A shelf's slack columns are spent on the kernels that gain most by being less of a strip. Knows
no cycles: every size offered here already meets the bottleneck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.geometry import Rect
from lowering.stages.objective import Objective
from lowering.stages.shapes import Ints, Widths
from lowering.stages.shelves import MAX_STACK, Shelf, ShelfWidths


@dataclass(frozen=True, slots=True)
class Column:
    """Kernels above each other, with the columns of PEs they share."""

    width: int
    """columns of PEs"""
    sizes: tuple[tuple[int, int], ...]
    """(rows, cols) of each kernel, north to south"""


@dataclass(frozen=True, slots=True, eq=False)
class FilledShelf:
    """One shelf with the size of each kernel."""

    height: int
    """rows of the band"""
    columns: tuple[Column, ...]
    """in pipeline order"""

    @property
    def width(self) -> int:
        """columns of PEs in use"""
        return sum(column.width for column in self.columns)


def fill_shelf(
    shelf: Shelf, widths: ShelfWidths, exact: Widths, heights: Ints, objective: Objective
) -> FilledShelf:
    """Choose the size of every kernel of a shelf; kernels count from the segment's first."""
    alone = widths.least[shelf.start : shelf.start + shelf.count, shelf.level].astype(int)
    parts = [1] * shelf.count
    if alone.sum() > widths.limit:
        parts = _share_columns(shelf, widths)
    columns = []
    first = shelf.start
    for stacked in parts:
        columns.append(_fill_column(first, stacked, shelf.level, widths, exact, heights))
        first += stacked
    slack = widths.limit - sum(column.width for column in columns)
    columns = _spend_slack(columns, slack, shelf, exact, heights, objective)
    return FilledShelf(int(heights[shelf.level]), tuple(columns))


def lay_shelf(filled: FilledShelf, row: int, band: tuple[int, int], eastward: bool) -> list[Rect]:
    """Place a shelf at `row` in a band of (first column, columns), from one end to the other."""
    rects = []
    west, east = band[0], band[0] + band[1]
    for column in filled.columns:
        top = row
        for high, wide in column.sizes:
            rects.append(Rect(top, west if eastward else east - wide, high, wide))
            top += high
        west, east = west + column.width, east - column.width
    return rects


def _share_columns(shelf: Shelf, widths: ShelfWidths) -> list[int]:
    """Kernels in each column of the narrowest partition, the dynamic program read backwards."""
    level, left, parts = shelf.level, shelf.count, []
    while left:
        target = widths.runs[left][shelf.start, level]
        for stacked in range(1, min(left, MAX_STACK) + 1):
            first = shelf.start + left - stacked
            column = widths.columns[stacked - 1][first, level]
            if widths.runs[left - stacked][shelf.start, level] + column <= target:
                parts.append(stacked)
                left -= stacked
                break
        else:
            raise AssertionError("a shelf's width is the sum of its columns")
    return parts[::-1]


def _fill_column(
    first: int, stacked: int, level: int, widths: ShelfWidths, exact: Widths, heights: Ints
) -> Column:
    """Give each kernel of a column the least height that fits the column's width."""
    wide = int(widths.columns[stacked - 1][first, level])
    sizes = []
    for kernel in range(first, first + stacked):
        at = int((exact[kernel] <= wide).argmax())
        sizes.append((int(heights[at]), int(exact[kernel, at])))
    return Column(wide, tuple(sizes))


def _spend_slack(
    columns: Sequence[Column],
    slack: int,
    shelf: Shelf,
    exact: Widths,
    heights: Ints,
    objective: Objective,
) -> list[Column]:
    """Widen kernels that stand alone in a column, the greatest gain a slack column first."""
    done = list(columns)
    firsts = np.cumsum([shelf.start] + [len(column.sizes) for column in columns])
    waiting = {at for at, column in enumerate(columns) if len(column.sizes) == 1}
    while slack >= 0 and waiting:
        best: tuple[float, int, Column] | None = None
        for at in sorted(waiting):
            gain, wider = _better_size(
                done[at], slack, exact[firsts[at]], heights[: shelf.level + 1], objective
            )
            if gain > 0 and (best is None or gain > best[0]):
                best = (gain, at, wider)
        if best is None:
            break
        slack -= best[2].width - done[best[1]].width
        done[best[1]] = best[2]
        waiting.discard(best[1])
    return done


def _better_size(
    column: Column, slack: int, exact: Widths, heights: Ints, objective: Objective
) -> tuple[float, Column]:
    """Return the cheapest size within the slack, and what it saves by each column it adds."""
    high, wide = column.sizes[0]
    options = exact[: len(heights)].astype(np.int64)
    price = np.where(options <= column.width + slack, objective.price(heights, options), 1e15)
    at = int(price.argmin())
    saved = float(objective.price(high, wide)) - float(price[at])
    size = (int(heights[at]), int(options[at]))
    return saved / (1 + max(0, size[1] - column.width)), Column(size[1], (size,))
