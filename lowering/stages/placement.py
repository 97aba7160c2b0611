"""Place a pipeline of kernels on the mesh as shelves of a snake.

Kernels keep their pipeline order: shelf after shelf from the north, the first running east, the
next west, so neighbours in the pipeline are neighbours on the mesh. The bottleneck (cycles of
the slowest kernel) is found by bisection around the shelf cuts of `shelves`. Knows shapes and
cycles; knows no tensors and no wires.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.geometry import Rect
from lowering.stages.bisection import (
    Report,
    ShelfRules,
    area_bound,
    least_bottleneck,
    limit_aspect,
    rows_at,
)
from lowering.stages.defects import free_bands
from lowering.stages.infeasible import Infeasible, explain_infeasible
from lowering.stages.objective import DEFAULT_OBJECTIVE, Objective
from lowering.stages.shapes import BIG, ShapeStack, ShapeTable, stack_shapes
from lowering.stages.shelf_fill import lay_shelf
from lowering.stages.shelf_plan import LaidShelf, plan_shelves
from lowering.stages.shelves import MAX_STACK, Segment

__all__ = ["BIG", "Infeasible", "PlacedShelf", "Placement", "ShapeTable", "lacks_room", "place"]

MAX_SHELF = 24
"""kernels on a shelf, more only where nothing else fits"""


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


def place(
    tables: Sequence[ShapeTable],
    rows: int,
    cols: int,
    *,
    max_shelf: int = MAX_SHELF,
    blocks: Sequence[tuple[int, int, int]] = (),
    cap_pes: Mapping[int, int] | None = None,
    blocked: Sequence[Rect] = (),
    aspect: int | None = None,
    objective: Objective = DEFAULT_OBJECTIVE,
    progress: Report | None = None,
) -> Placement | Infeasible:
    """Place kernels in pipeline order on a grid at the least bottleneck that shelves reach.

    `blocks` are runs of (first kernel, kernels a block, blocks) with equal tables; they are laid
    down as equal shelves unless that costs more than `objective` allows. `cap_pes` limits the PEs
    of a kernel. No region touches a `blocked` rectangle; where there are any, `blocks` is not used.
    No side of a place is over `aspect` times the other; None: a limit that costs hardly anything.
    The result depends on the arguments only.
    """
    if not tables:
        raise ValueError("nothing to place: the pipeline has no kernel")
    stack = stack_shapes(tables, rows, cols, cap_pes or {})
    if aspect is not None:
        stack = stack.within_aspect(aspect)
    report = progress or (lambda stage, done, total, unit: None)
    bands = free_bands(rows, cols, stack.heights, blocked) if blocked else None
    free = ShelfRules((Segment(0, stack.count),), max_shelf, bands, objective)
    found_rules = _with_room(stack, free)
    if isinstance(found_rules, Infeasible):
        return found_rules
    free = found_rules
    bound = area_bound(stack)
    rules, tau = free, 0
    for segments in _block_choices(blocks, stack.count) if bands is None else ():
        choice = replace(free, segments=segments)
        found = least_bottleneck(stack, choice, bound, report)
        if found is not None and (not tau or found < tau):
            rules, tau = choice, found
    if not tau or rows_at(stack, free, objective.unblocked(tau)) <= rows:
        found = least_bottleneck(stack, free, bound, report)
        assert found is not None, "a feasible top has a feasible bottleneck"
        rules, tau = free, found
    if aspect is None:
        stack, tau = limit_aspect(stack, rules, tau)
    report("place", 1, 1, "plan")
    return _placement(stack, plan_shelves(stack, rules, tau), bound)


def lacks_room(
    stack: ShapeStack, blocked: Sequence[Rect] = (), aspect: int | None = None
) -> Infeasible | None:
    """Return why the kernels of a stack cannot be placed at any bottleneck, None where they can."""
    if aspect is not None:
        stack = stack.within_aspect(aspect)
    bands = free_bands(stack.rows, stack.cols, stack.heights, blocked) if blocked else None
    found = _with_room(stack, ShelfRules((Segment(0, stack.count),), MAX_SHELF, bands))
    return found if isinstance(found, Infeasible) else None


def _with_room(stack: ShapeStack, free: ShelfRules) -> ShelfRules | Infeasible:
    """Return rules under which the smallest sizes fit: these, or with longer shelves."""
    if rows_at(stack, free, BIG - 1) <= stack.rows:
        return free
    free = replace(free, max_shelf=max(free.max_shelf, min(stack.count, MAX_STACK * stack.cols)))
    least = rows_at(stack, free, BIG - 1)
    return free if least <= stack.rows else explain_infeasible(stack, least)


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


def _placement(stack: ShapeStack, plan: Sequence[LaidShelf], bound: int) -> Placement:
    """Lay the shelves down from the north, alternating direction."""
    regions: list[Rect] = []
    shelves: list[PlacedShelf] = []
    for laid in plan:
        eastward = len(shelves) % 2 == 0
        rects = lay_shelf(laid.shelf, laid.row, (laid.col, laid.cols), eastward)
        counted = len(regions), len(rects)
        shelves.append(PlacedShelf(laid.row, laid.shelf.height, counted, eastward))
        regions += rects
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
