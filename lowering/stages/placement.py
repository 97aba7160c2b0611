"""Place a pipeline of kernels on the mesh as shelves of a snake.

Kernels keep their pipeline order: shelf after shelf from the north, the first running east, the
next west, so neighbours in the pipeline are neighbours on the mesh. The bottleneck (cycles of
the slowest kernel) is found by bisection around the shelf cuts of `shelves`. Knows shapes and
cycles; knows no tensors and no wires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.geometry import Rect
from lowering.stages.bisection import Report, area_bound, least_bottleneck, limit_aspect, rows_at
from lowering.stages.infeasible import Infeasible, explain_infeasible
from lowering.stages.shapes import BIG, ShapeStack, ShapeTable, stack_shapes
from lowering.stages.shelf_fill import FilledShelf, fill_shelf, lay_shelf
from lowering.stages.shelves import MAX_STACK, Segment, fewest_rows, least_cost, shelf_widths

BLOCK_LOSS = 1.03
"""equal shelves for repeated blocks may cost this factor of the bottleneck, our choice: equal
blocks compile once and read better"""


COMPACT = (1.1, 1.25, 1.5, 2.0, 3.0)
"""sides of the squares tried before the whole grid, in units of the root of the area needed"""

ROW_PRICES = (0.0, 0.02, 0.1, 0.3, 1.0, 4.0)
"""prices of a row tried, in units of one PE for each column of a shelf"""


@dataclass(frozen=True, slots=True)
class PlacedShelf:
    """One band of rows and the kernels on it."""

    row: int
    """northmost row"""
    rows: int
    """height of the band in PEs"""
    kernels: tuple[int, int]
    """(first, count) in pipeline order"""
    is_eastward: bool
    """True when the pipeline runs west to east on it"""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where every kernel goes."""

    regions: tuple[Rect, ...]
    """one a kernel, in pipeline order; disjoint"""
    shelves: tuple[PlacedShelf, ...]
    """north to south"""
    cycles: tuple[int, ...]
    """cycles of each kernel at its size"""
    tau: int
    """cycles of the slowest kernel"""
    bound: int
    """no placement has a smaller tau: areas alone, or the slowest kernel at its best size"""
    fill: float
    """PEs in regions / PEs of the grid, 0..1"""
    busy: float
    """PE-cycles at work / (PEs of the grid x tau), 0..1"""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Shelves of each segment at one bottleneck."""

    segments: tuple[tuple[Segment, tuple[FilledShelf, ...]], ...]

    @property
    def width(self) -> int:
        """columns in use"""
        return max(shelf.width for _, shelves in self.segments for shelf in shelves)


def place(
    tables: Sequence[ShapeTable],
    rows: int,
    cols: int,
    *,
    max_shelf: int = 24,
    blocks: Sequence[tuple[int, int, int]] = (),
    cap_pes: Mapping[int, int] | None = None,
    progress: Report | None = None,
) -> Placement | Infeasible:
    """Place kernels in pipeline order on a grid at the least bottleneck that shelves reach.

    `blocks` are runs of (first kernel, kernels a block, blocks) with equal tables; they are laid
    down as equal shelves unless that costs over `BLOCK_LOSS`. `cap_pes` limits the PEs of a
    kernel. The result depends on the arguments only.
    """
    if not tables:
        raise ValueError("nothing to place: the pipeline has no kernel")
    stack = stack_shapes(tables, rows, cols, cap_pes or {})
    report = progress or (lambda stage, done, total, unit: None)
    top = BIG - 1
    free: tuple[Segment, ...] = (Segment(0, stack.count),)
    if (stack.best_cycles() >= BIG).any() or rows_at(stack, free, top, max_shelf) > rows:
        max_shelf = max(max_shelf, min(stack.count, MAX_STACK * cols))
        least = rows_at(stack, free, top, max_shelf)
        if least > rows:
            return explain_infeasible(stack, least)
    bound = area_bound(stack)
    segments, tau = free, 0
    for choice in _block_choices(blocks, stack.count):
        found = least_bottleneck(stack, choice, bound, max_shelf, report)
        if found is not None and (not tau or found < tau):
            segments, tau = choice, found
    if not tau or rows_at(stack, free, int(tau / BLOCK_LOSS), max_shelf) <= rows:
        found = least_bottleneck(stack, free, bound, max_shelf, report)
        assert found is not None, "a feasible top has a feasible bottleneck"
        segments, tau = free, found
    stack, tau = limit_aspect(stack, segments, tau, max_shelf)
    report("place", 1, 1, "plan")
    return _placement(stack, _best_plan(stack, segments, tau, max_shelf), bound)


def _block_choices(blocks: Sequence[tuple[int, int, int]], count: int) -> list[tuple[Segment, ...]]:
    """Cuts of the pipeline that lay blocks down equally, one or a few of them a repetition."""
    choices = []
    for group in (1, 2, 3, 4) if blocks else ():
        if any(number % group for _, _, number in blocks):
            continue
        segments, at = [], 0
        for start, size, number in sorted(blocks):
            if start > at:
                segments.append(Segment(at, start - at))
            segments.append(Segment(start, size * group, number // group))
            at = start + size * number
        if at < count:
            segments.append(Segment(at, count - at))
        choices.append(tuple(segments))
    return choices


def _best_plan(stack: ShapeStack, segments: tuple[Segment, ...], tau: int, max_shelf: int) -> _Plan:
    """Choose shelves and sizes at the bottleneck: compact, near square, within the grid."""
    area = int(stack.least_areas(tau).sum())
    for factor in COMPACT:
        side = int(factor * area**0.5) + 1
        if side < stack.cols:
            sides = (min(side, stack.rows), side)
            plan = _plan_within(stack, segments, tau, max_shelf, sides)
            if plan is not None:
                return plan
    plan = _plan_within(stack, segments, tau, max_shelf, (stack.rows, stack.cols))
    assert plan is not None, "the bisection found shelves that fit the grid"
    return plan


def _plan_within(
    stack: ShapeStack,
    segments: tuple[Segment, ...],
    tau: int,
    max_shelf: int,
    sides: tuple[int, int],
) -> _Plan | None:
    """Plan within (rows, cols) at the lowest price of a row that fits; None if none does."""
    rows, limit = sides
    exact = stack.least_widths(tau, limit)
    parts = [exact[part.start : part.start + part.count] for part in segments]
    widths = [shelf_widths(own, stack.heights, limit, max_shelf) for own in parts]
    cuts = [fewest_rows(found, stack.heights) for found in widths]
    if sum(part.repeat * cut[0] for part, cut in zip(segments, cuts, strict=True)) > rows:
        return None
    for price in ROW_PRICES:
        tried = [
            least_cost(found, own, stack.heights, price * limit)
            for found, own in zip(widths, parts, strict=True)
        ]
        used = sum(part.repeat * cut[0] for part, cut in zip(segments, tried, strict=True))
        if used <= rows:
            cuts = tried
            break
    return _Plan(
        tuple(
            (part, tuple(fill_shelf(shelf, found, own, stack.heights) for shelf in cut[1]))
            for part, cut, found, own in zip(segments, cuts, widths, parts, strict=True)
        )
    )


def _placement(stack: ShapeStack, plan: _Plan, bound: int) -> Placement:
    """Lay the shelves down from the north, alternating direction."""
    regions: list[Rect] = []
    shelves: list[PlacedShelf] = []
    row, width = 0, plan.width
    for part, filled in plan.segments:
        for shelf in filled * part.repeat:
            eastward = len(shelves) % 2 == 0
            rects = lay_shelf(shelf, row, width, eastward)
            shelves.append(PlacedShelf(row, shelf.height, (len(regions), len(rects)), eastward))
            regions += rects
            row += shelf.height
    cycles = tuple(
        stack.cycles_at(kernel, region.rows, region.cols) for kernel, region in enumerate(regions)
    )
    tau, grid = max(cycles), stack.rows * stack.cols
    work = sum(region.area * spent for region, spent in zip(regions, cycles, strict=True))
    return Placement(
        regions=tuple(regions),
        shelves=tuple(shelves),
        cycles=cycles,
        tau=tau,
        bound=bound,
        fill=float(np.sum([region.area for region in regions])) / grid,
        busy=work / (grid * max(tau, 1)),
    )
