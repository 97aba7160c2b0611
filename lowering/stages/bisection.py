"""Find the least bottleneck at which shelves fit the grid.

The bottleneck is the cycles of the slowest kernel. More of it means smaller regions, so whether
shelves fit is monotone and bisection finds it. Knows shapes and cuts, no positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lowering.stages.defects import FreeBands, fewest_rows_around
from lowering.stages.objective import DEFAULT_OBJECTIVE, Objective
from lowering.stages.shapes import BIG, ShapeStack
from lowering.stages.shelves import Segment, fewest_rows, shelf_widths

PRECISION = 2000
"""the bottleneck is bisected to one part in this many"""

ASPECTS = (4, 8, 16, 32)
"""side ratios tried as a limit, the strictest first"""

Report = Callable[[str, int, int, str], None]
"""called as (stage, done, total, unit); may raise to cancel"""


@dataclass(frozen=True, slots=True, eq=False)
class ShelfRules:
    """What every cut into shelves has to keep."""

    segments: tuple[Segment, ...]
    """runs of kernels cut on their own, in pipeline order"""
    max_shelf: int
    """kernels on a shelf at most"""
    bands: FreeBands | None = None
    """free columns of each band, None when no PE is blocked; then there is one segment"""
    objective: Objective = DEFAULT_OBJECTIVE
    """what counts beside the bottleneck"""


def area_bound(stack: ShapeStack) -> int:
    """Least bottleneck at which the PEs that the kernels need fit the grid at all."""
    low, high = int(stack.best_cycles().max()), BIG - 1
    grid = stack.rows * stack.cols
    step = 1
    while low + step < high:
        if stack.least_areas(low + step).sum() <= grid:
            high = low + step
            break
        step *= 2
    if stack.least_areas(low).sum() <= grid:
        return low
    while high - low > max(1, low // (4 * PRECISION)):
        middle = (low + high) // 2
        if stack.least_areas(middle).sum() <= grid:
            high = middle
        else:
            low = middle
    return low + 1


def least_bottleneck(
    stack: ShapeStack, rules: ShelfRules, bound: int, report: Report
) -> int | None:
    """Return the least bottleneck (to 1 / PRECISION) whose shelves fit; None if none does."""

    def fits(tau: int) -> bool:
        report("place", 0, 1, "plan")
        return rows_at(stack, rules, tau) <= stack.rows

    if fits(bound):
        return bound
    low, grow = bound, 1 / 128
    high = low + max(1, int(low * grow))
    while not fits(high):
        if high >= BIG - 1:
            return None
        low, grow = high, grow * 4
        high = min(BIG - 1, low + max(1, int(low * grow)))
    while high - low > max(1, high // PRECISION):
        middle = (low + high) // 2
        if fits(middle):
            high = middle
        else:
            low = middle
    return high


def limit_aspect(stack: ShapeStack, rules: ShelfRules, tau: int) -> tuple[ShapeStack, int]:
    """Drop thin sizes where the bottleneck hardly minds: the strictest limit that still fits."""
    loose = rules.objective.loosened(tau)
    for aspect in ASPECTS:
        square = stack.within_aspect(aspect)
        for trial in (tau, (tau + loose) // 2, loose):
            if rows_at(square, rules, trial) <= stack.rows:
                return square, trial
    return stack, tau


def rows_at(stack: ShapeStack, rules: ShelfRules, tau: int) -> int:
    """Fewest rows that shelves of the full width need at a bottleneck."""
    exact = stack.least_widths(tau, stack.cols)
    if rules.bands is not None:
        whole = shelf_widths(exact, stack.heights, stack.cols, rules.max_shelf)
        return fewest_rows_around(whole, stack.heights, rules.bands)[0]
    total = 0
    for part in rules.segments:
        own = exact[part.start : part.start + part.count]
        widths = shelf_widths(own, stack.heights, stack.cols, rules.max_shelf)
        total += part.repeat * fewest_rows(widths, stack.heights)[0]
    return total
