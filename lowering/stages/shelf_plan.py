"""Choose the shelves of a placement once its bottleneck is known.

Many cuts meet a bottleneck; here the compact ones with regions near square win. Knows shapes
and bands of rows, no pipeline meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lowering.stages.bisection import ShelfRules
from lowering.stages.defects import FreeBands, fewest_rows_around
from lowering.stages.shapes import ShapeStack
from lowering.stages.shelf_fill import FilledShelf, fill_shelf
from lowering.stages.shelves import fewest_rows, least_cost, shelf_widths

COMPACT = (1.1, 1.25, 1.5, 2.0, 3.0)
"""sides of the squares tried before the whole grid, in units of the root of the area needed"""

ROW_PRICES = (0.0, 0.02, 0.1, 0.3, 1.0, 4.0)
"""prices of a row tried, in units of one PE for each column of a shelf"""


@dataclass(frozen=True, slots=True)
class LaidShelf:
    """A filled shelf and the band it has."""

    shelf: FilledShelf
    row: int
    """northmost row"""
    col: int
    """westmost column of the band"""
    cols: int
    """columns of the band"""


def plan_shelves(stack: ShapeStack, rules: ShelfRules, tau: int) -> tuple[LaidShelf, ...]:
    """Choose shelves and sizes at the bottleneck: compact, near square, within the grid."""
    if rules.bands is not None:
        return _plan_around(stack, rules, rules.bands, tau)
    area = int(stack.least_areas(tau).sum())
    for factor in COMPACT:
        side = int(factor * area**0.5) + 1
        if side < stack.cols:
            sides = (min(side, stack.rows), side)
            plan = _plan_within(stack, rules, tau, sides)
            if plan is not None:
                return plan
    plan = _plan_within(stack, rules, tau, (stack.rows, stack.cols))
    assert plan is not None, "the bisection found shelves that fit the grid"
    return plan


def _plan_within(
    stack: ShapeStack, rules: ShelfRules, tau: int, sides: tuple[int, int]
) -> tuple[LaidShelf, ...] | None:
    """Plan within (rows, cols) at the lowest price of a row that fits; None if none does."""
    rows, limit = sides
    segments = rules.segments
    exact = stack.least_widths(tau, limit)
    parts = [exact[part.start : part.start + part.count] for part in segments]
    widths = [shelf_widths(own, stack.heights, limit, rules.max_shelf) for own in parts]
    cuts = [fewest_rows(found, stack.heights) for found in widths]
    if sum(part.repeat * cut[0] for part, cut in zip(segments, cuts, strict=True)) > rows:
        return None
    for price in ROW_PRICES:
        tried = [
            least_cost(found, own, stack.heights, price * limit, rules.objective)
            for found, own in zip(widths, parts, strict=True)
        ]
        used = sum(part.repeat * cut[0] for part, cut in zip(segments, tried, strict=True))
        if used <= rows:
            cuts = tried
            break
    filled: list[FilledShelf] = []
    for part, cut, found, own in zip(segments, cuts, widths, parts, strict=True):
        once = [fill_shelf(shelf, found, own, stack.heights, rules.objective) for shelf in cut[1]]
        filled += once * part.repeat
    return _stack_up(filled)


def _stack_up(filled: Sequence[FilledShelf]) -> tuple[LaidShelf, ...]:
    """Lay shelves on each other, all as wide as the widest."""
    width = max(shelf.width for shelf in filled)
    laid, row = [], 0
    for shelf in filled:
        laid.append(LaidShelf(shelf, row, 0, width))
        row += shelf.height
    return tuple(laid)


def _plan_around(
    stack: ShapeStack, rules: ShelfRules, bands: FreeBands, tau: int
) -> tuple[LaidShelf, ...]:
    """Plan on the bands that blocked PEs leave: as far north as possible, not compact."""
    exact = stack.least_widths(tau, stack.cols)
    widths = shelf_widths(exact, stack.heights, stack.cols, rules.max_shelf)
    laid = []
    for site in fewest_rows_around(widths, stack.heights, bands)[1]:
        narrow = replace(widths, limit=site.cols)
        filled = fill_shelf(site.shelf, narrow, exact, stack.heights, rules.objective)
        laid.append(LaidShelf(filled, site.row, site.col, site.cols))
    return tuple(laid)
