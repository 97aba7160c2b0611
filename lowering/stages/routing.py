"""Routing: the legs of every transfer and of the traffic inside kernels, and their colors.

A re-layout runs down the producer's own columns first, then along the consumer's rows (order
yx): every column and every row carries its share. Order xy runs along the producer's rows first,
then down the consumer's columns; what all columns need is copied along the rows at the end.
Knows placed kernels and words, no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.geometry import Rect
from engine.kernels.cost import KernelModel
from engine.machine import MachineSpec
from engine.program import Leg, Tiling


@dataclass(frozen=True, slots=True)
class Arrival:
    """How an operand enters a kernel."""

    mode: str
    """rows: each row its part of M x K, copied to every column; held: K x N on the grid, for
    every group of rows; cells: M x K x N, each PE its own; grid: M x N as results are; copied:
    M on rows, the same for every column"""
    ordered: bool
    """True when producer and consumer agree on the order of positions"""
    batch: int = 1
    """a column uses one in this many of a row's words"""
    copies: int = 1
    """times each word is needed on different rows"""
    halo: float = 0.0
    """words needed by two neighbouring rows, as a share of all"""


@dataclass(frozen=True, slots=True)
class End:
    """A kernel's end of a transfer."""

    region: Rect
    tiling: Tiling


@lru_cache(maxsize=8192)
def transfer_legs(
    source: End, target: End, arrival: Arrival, words: int, order: str = "yx"
) -> tuple[Leg, ...]:
    """Return the legs that bring `words` a chunk from one kernel to another; order yx or xy."""
    if order == "xy":
        return _rows_first(source, target, arrival, words)
    moved = round(words * arrival.copies * (1 + arrival.halo))
    src, dst = source.region, target.region
    if arrival.copies > 1:
        tree = Leg(
            "broadcast", "y", src.col, src.cols, src.row, src.rows, dst.row, dst.rows, words,
            share=target.tiling.k_parts,
        )  # fmt: skip
        return tree, _along(dst, (src.col, src.cols), arrival, moved)
    down = Leg(
        "shift" if arrival.ordered and arrival.mode != "rows" else "exchange", "y",
        src.col, src.cols, src.row, src.rows, dst.row, dst.rows, moved,
        groups=_row_groups(target, arrival),
    )  # fmt: skip
    return _without_rest((down, _along(dst, (src.col, src.cols), arrival, moved)))


def _rows_first(source: End, target: End, arrival: Arrival, words: int) -> tuple[Leg, ...]:
    moved = round(words * arrival.copies * (1 + arrival.halo))
    src, dst = source.region, target.region
    in_place = arrival.ordered and arrival.mode == "grid"
    lines = (dst.col, dst.cols, src.row, src.rows, dst.row, dst.rows)
    tree = arrival.copies > 1
    along = Leg(
        "shift" if in_place else "exchange", "x", src.row, src.rows, src.col, src.cols,
        dst.col, dst.cols, words if tree else moved, groups=0 if in_place else 1,
    )  # fmt: skip
    if tree:
        return along, Leg("broadcast", "y", *lines, words, share=target.tiling.k_parts)
    kind = "shift" if arrival.ordered and arrival.mode != "rows" else "exchange"
    down = Leg(kind, "y", *lines, moved, groups=_row_groups(target, arrival))
    if arrival.mode in ("rows", "copied"):
        return _moving((along, down, _along(dst, (dst.col, dst.cols), arrival, moved)))
    return _moving((along, down))


def _moving(legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """Drop legs on which nothing moves; one stays at least."""
    kept = tuple(leg for leg in legs if not _at_rest(leg))
    return kept or legs[-1:]


def _at_rest(leg: Leg) -> bool:
    return leg.groups == 0 and (leg.src_start, leg.src) == (leg.dst_start, leg.dst)


def _along(dst: Rect, columns: tuple[int, int], arrival: Arrival, moved: int) -> Leg:
    if arrival.mode in ("rows", "copied"):
        return Leg(
            "broadcast", "x", dst.row, dst.rows, *columns, dst.col, dst.cols, moved,
            share=arrival.batch if arrival.mode == "rows" else 1,
        )  # fmt: skip
    ordered = arrival.ordered and arrival.mode == "grid"
    return Leg(
        "shift" if ordered else "exchange", "x", dst.row, dst.rows, *columns, dst.col, dst.cols,
        moved, groups=0 if ordered else 1,
    )  # fmt: skip


def _row_groups(target: End, arrival: Arrival) -> int:
    if not arrival.ordered:
        return 1
    if arrival.mode == "rows":
        return target.tiling.m_parts if target.tiling.k_parts > 1 else 0
    return 0 if arrival.mode in ("grid", "copied") else 1


def _without_rest(legs: tuple[Leg, ...]) -> tuple[Leg, ...]:
    """Drop a first leg on which nothing moves: the words are on the right rows already."""
    return legs[1:] if _at_rest(legs[0]) else legs


def host_in_legs(target: End, arrival: Arrival, words: int) -> tuple[Leg, ...]:
    """Return the leg from the west border along the consumer's rows."""
    moved = round(words * arrival.copies * (1 + arrival.halo))
    leg = _along(target.region, (0, 1), arrival, moved)
    kind = "host broadcast" if leg.kind == "broadcast" else "host"
    return (_renamed(leg, kind),)


def weight_legs(target: End, words: int) -> tuple[Leg, ...]:
    """Return the legs of what enters once, evenly over all rows, as weights do; where groups of
    rows hold the same, trees copy it."""
    region, tiling = target.region, target.tiling
    enter = Leg(
        "host", "x", region.row, region.rows, 0, 1, region.col, region.cols, words, groups=0
    )
    if tiling.m_parts == 1:
        return (enter,)
    rows = (region.row, region.rows)
    copy = Leg("broadcast", "y", region.col, region.cols, *rows, *rows, words, share=tiling.k_parts)
    return enter, copy


def host_out_legs(source: End, machine: MachineSpec, words: int) -> tuple[Leg, ...]:
    """Return the leg along the producer's rows to the nearer border."""
    region = source.region
    east = machine.cols - region.end_col < region.col
    edge = machine.cols - 1 if east else 0
    return (
        Leg(
            "host", "x", region.row, region.rows, region.col, region.cols, edge, 1, words,
            groups=0,
        ),
    )  # fmt: skip


def _renamed(leg: Leg, kind: str) -> Leg:
    return Leg(
        kind, leg.axis, leg.lines_start, leg.lines, leg.src_start, leg.src, leg.dst_start,
        leg.dst, leg.words, groups=leg.groups, share=leg.share,
    )  # fmt: skip


def kernel_legs(model: KernelModel, end: End, machine: MachineSpec) -> tuple[Leg, ...]:
    """Return the traffic inside a region, words an instance: partial sums and row statistics."""
    problem, tiling, region = model.problem, end.tiling, end.region
    rows = (region.row, region.rows)
    cols = (region.col, region.cols)
    legs: list[Leg] = []
    scale = problem.accumulator_bytes / machine.wavelet_bytes
    if tiling.k_parts > 1 and problem.work != "none":
        gates = problem.k_inner if problem.serial > 1 else 1
        words = round(problem.m * problem.n * gates * scale)
        legs.append(Leg("reduce", "y", *cols, *rows, *rows, words, groups=tiling.m_parts))
    if problem.serial > 1 and tiling.n_parts > 1:
        states = round(problem.m * problem.n * scale)
        legs.append(Leg("broadcast", "x", *rows, *cols, *cols, states))
    sums = round(model.epilogue.row_sums * scale)
    if sums and tiling.n_parts > 1:
        groups = min(problem.batch, tiling.n_parts)
        legs.append(Leg("reduce", "x", *rows, *cols, *cols, sums, groups=groups))
        legs.append(Leg("broadcast", "x", *rows, *cols, *cols, sums, groups=groups))
    return tuple(legs)


@dataclass(frozen=True, slots=True)
class ColorPlan:
    """Colors of all flows."""

    colors: tuple[int, ...]
    """one a flow, in order; beyond the machine's last color where they ran out"""
    used: int
    """different colors needed"""
    crowded: tuple[int, int] | None
    """(row, col) of the router at which the last color was needed"""


def assign_colors(flows: Sequence[Sequence[Leg]]) -> ColorPlan:
    """Give every flow the lowest color that no flow sharing one of its routers has."""
    boxes = [_box(leg) for legs in flows for leg in legs]
    owner = np.array([i for i, legs in enumerate(flows) for _ in legs], np.int64)
    if not boxes:
        return ColorPlan((0,) * len(flows), 0, None)
    box = np.array(boxes, np.int64)
    colors = np.full(len(flows), -1, np.int64)
    crowded, most = None, -1
    for flow, legs in enumerate(flows):
        taken: set[int] = set()
        for leg in legs:
            row, col, end_row, end_col = _box(leg)
            meets = (
                (box[:, 0] < end_row) & (box[:, 2] > row)
                & (box[:, 1] < end_col) & (box[:, 3] > col)
            )  # fmt: skip
            taken |= set(colors[owner[meets]].tolist())
        color = next(c for c in range(len(flows) + 1) if c not in taken)
        colors[flow] = color
        if legs and color > most:
            most, crowded = color, _box(legs[0])[:2]
    return ColorPlan(tuple(colors.tolist()), most + 1, crowded)


def _box(leg: Leg) -> tuple[int, int, int, int]:
    """Return (row, col, end row, end col) of the routers a leg passes."""
    start = min(leg.src_start, leg.dst_start)
    end = max(leg.src_start + leg.src, leg.dst_start + leg.dst)
    if leg.axis == "x":
        return leg.lines_start, start, leg.lines_start + leg.lines, end
    return start, leg.lines_start, end, leg.lines_start + leg.lines
