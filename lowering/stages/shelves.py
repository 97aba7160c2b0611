"""Cut a chain of kernels into shelves: the dynamic programs behind placement.

A shelf is a band of rows that holds consecutive kernels side by side; small ones may share a
column, one above the other. Everything here asks one question, for a given bottleneck: which
cuts need the fewest rows, or the least cost within the rows there are. Knows no positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lowering.stages.objective import Objective
from lowering.stages.shapes import Floats, Ints, Widths

MAX_STACK = 4
"""kernels that may share a column of a shelf"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of kernels that is cut into shelves once and laid down `repeat` times."""

    start: int
    """first kernel"""
    count: int
    """kernels of one repetition"""
    repeat: int = 1
    """times the same shelves follow each other"""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Consecutive kernels on one band of rows."""

    start: int
    """first kernel"""
    count: int
    """kernels on the shelf"""
    level: int
    """index of its height in the stack's heights"""


@dataclass(frozen=True, slots=True, eq=False)
class ShelfWidths:
    """Columns that each possible shelf of one segment needs, at one bottleneck."""

    least: Widths
    """width of each kernel alone on a shelf of each height, int16 (n, S)"""
    columns: tuple[Widths, ...]
    """[c - 1]: width of c kernels from i sharing a column, int16 (n - c + 1, S)"""
    runs: tuple[Widths, ...]
    """[L]: width of L kernels from i as one shelf, int16 (n - L + 1, S); capped at limit + 1"""
    limit: int
    """columns of a shelf"""

    def least_levels(self, length: int) -> Ints:
        """Return the lowest height index that holds `length` kernels from i; S if none, (n-L+1,)"""
        fits = self.runs[length] <= self.limit
        levels: Ints = np.where(fits[:, -1], fits.argmax(axis=1), fits.shape[1])
        return levels


def shelf_widths(exact: Widths, heights: Ints, limit: int, max_shelf: int) -> ShelfWidths:
    """Find the columns that every shelf of up to `max_shelf` kernels needs.

    `exact` holds the least width of each kernel at exactly each height, int16 (n, S). Runs stop
    at the first length that fits nowhere.
    """
    least = np.minimum.accumulate(exact, axis=1)
    columns = _shared_columns(least, heights, limit)[: min(max_shelf, len(exact))]
    runs: list[Widths] = [np.zeros((len(exact) + 1, len(heights)), np.int16)]
    for length in range(1, min(max_shelf, len(exact)) + 1):
        starts = len(exact) - length + 1
        best = np.full((starts, len(heights)), limit + 1, np.int16)
        for stacked in range(1, min(length, len(columns)) + 1):
            before = length - stacked
            column = columns[stacked - 1][before : before + starts]
            np.minimum(best, runs[before][:starts] + column, out=best)
        if (best[:, -1] > limit).all():
            break
        runs.append(best)
    return ShelfWidths(least, columns, tuple(runs), limit)


def _shared_columns(least: Widths, heights: Ints, limit: int) -> tuple[Widths, ...]:
    """Widths of 1..MAX_STACK kernels above each other: the best split of the shelf's height."""
    columns = [least]
    fits, rests = _height_splits(tuple(heights.tolist()))
    for stacked in range(2, min(MAX_STACK, len(least)) + 1):
        above, below = columns[-1][:-1], least[stacked - 1 :]
        best = np.full(above.shape, limit + 1, np.int16)
        for level, (first, rest) in enumerate(zip(fits, rests, strict=True)):
            wide = np.maximum(below[:, level, None], above.take(rest, axis=1))
            np.minimum(best[:, first:], wide, out=best[:, first:])
        columns.append(best)
    return tuple(columns)


@lru_cache(maxsize=8)
def _height_splits(heights: tuple[int, ...]) -> tuple[list[int], list[Ints]]:
    """For a lower part of each height: the first shelf with room above it, and what is above.

    Entry i of the second list holds, for shelves from the first on, the highest level that fits
    above level i.
    """
    sides = np.array(heights, np.int64)
    firsts, rests = [], []
    for height in heights:
        first = int(np.searchsorted(sides, height + heights[0]))
        if first == len(heights):
            break
        firsts.append(first)
        rests.append(np.searchsorted(sides, sides[first:] - height, side="right") - 1)
    return firsts, rests


def fewest_rows(widths: ShelfWidths, heights: Ints) -> tuple[int, tuple[Shelf, ...]]:
    """Cut the segment so that its shelves need the fewest rows together."""
    span = len(widths.least)
    costs = np.full((span + 1, len(widths.runs) - 1), np.inf)
    levels = np.zeros(costs.shape, np.int64)
    tall = np.append(heights.astype(np.float64), np.inf)
    for length in range(1, len(widths.runs)):
        found = widths.least_levels(length)
        levels[length:, length - 1] = found
        costs[length:, length - 1] = tall[found]
    total, shelves = _cheapest_cuts(costs, levels)
    return (int(total) if np.isfinite(total) else 1 << 40), shelves


def least_cost(
    widths: ShelfWidths,
    exact: Widths,
    heights: Ints,
    row_price: float,
    objective: Objective,
) -> tuple[int, tuple[Shelf, ...]]:
    """Cut the segment at the least cost; return the rows it takes and the shelves.

    A kernel costs its area and, beyond that, how far it is from square; a shelf costs half the
    rectangle around it, and `row_price` a row.
    """
    roomy, roomy_cost, tight_cost = _kernel_costs(widths, exact, heights, objective)
    span = len(exact)
    costs = np.full((span + 1, len(widths.runs) - 1), np.inf)
    levels = np.zeros(costs.shape, np.int64)
    for length in range(1, len(widths.runs)):
        starts = span - length + 1
        wide = roomy[length:] - roomy[:starts]
        fits = wide <= widths.limit
        tight = tight_cost[length:] - tight_cost[:starts]
        cost = np.where(widths.runs[length] <= widths.limit, tight, np.inf)
        cost = np.where(fits, roomy_cost[length:] - roomy_cost[:starts], cost)
        cost += heights * (0.5 * np.where(fits, wide, widths.runs[length]) + row_price)
        found = cost.argmin(axis=1)
        levels[length:, length - 1] = found
        costs[length:, length - 1] = cost[np.arange(starts), found]
    _, shelves = _cheapest_cuts(costs, levels)
    return sum(int(heights[shelf.level]) for shelf in shelves), shelves


def _kernel_costs(
    widths: ShelfWidths, exact: Widths, heights: Ints, objective: Objective
) -> tuple[Ints, Floats, Floats]:
    """Prefix sums over kernels: best size's width and cost, narrowest size's cost, (n + 1, S)."""
    order = np.arange(len(heights))
    holds = exact <= widths.limit
    price = np.where(holds, objective.price(heights, exact.astype(np.int64)), np.inf)
    cheapest = np.minimum.accumulate(price, axis=1)
    at = np.maximum.accumulate(np.where(holds & (price == cheapest), order, 0), axis=1)
    roomy = np.take_along_axis(exact, at, axis=1).astype(np.int64)
    narrower = np.diff(widths.least, axis=1, prepend=np.int16(widths.limit + 1)) != 0
    narrow = np.maximum.accumulate(np.where(narrower, order, 0), axis=1)
    tight = np.take_along_axis(price, narrow, axis=1)

    # A kernel that a height does not hold is kept out by its width: its price must stay finite.
    sums = [np.cumsum(np.where(np.isfinite(part), part, 0.0), axis=0) for part in (cheapest, tight)]
    low, high = (np.concatenate([np.zeros_like(part[:1]), part]) for part in sums)
    return np.concatenate([np.zeros_like(roomy[:1]), np.cumsum(roomy, axis=0)]), low, high


def _cheapest_cuts(costs: Floats, levels: Ints) -> tuple[float, tuple[Shelf, ...]]:
    """Choose cuts: `costs[j, L - 1]` is the price of a shelf of L kernels that ends before j."""
    span = len(costs) - 1
    best = np.full(span + 1, np.inf)
    best[0] = 0.0
    taken = np.zeros(span + 1, np.int64)
    for end in range(1, span + 1):
        longest = min(costs.shape[1], end)
        totals = best[end - longest : end][::-1] + costs[end, :longest]
        taken[end] = totals.argmin() + 1 if longest else 1
        best[end] = totals[taken[end] - 1] if longest else np.inf
    if not np.isfinite(best[span]):
        return float("inf"), ()
    shelves: list[Shelf] = []
    end = span
    while end:
        count = int(taken[end])
        shelves.append(Shelf(end - count, count, int(levels[end, count - 1])))
        end -= count
    return float(best[span]), tuple(reversed(shelves))
