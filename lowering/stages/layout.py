"""Lay buffers out in the SRAM of one PE class: who may share bytes with whom.

Buffers live from one operation to another in program order; two that live at once must not
share a byte. Greedy by size with best fit, then a seeded climb over the order of placement
until the peak meets its lower bound. Knows sizes and intervals, no kernels.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.jit import compiling_is_off, register_warm_up
from engine.timing.state import to_lists
from lowering.stages.layout_jit import Sizes, Windows, build_windows, place_in_order

SEED = 20
"""start of the random moves, fixed so that a layout repeats"""

MAX_MOVES = 240
"""orders tried by the climb"""

MAX_VISITS = 100_000
"""neighbour visits of the whole climb, which bounds its time for many buffers"""

WINDOW = 64
"""operations whose buffers are looked at together: others cannot meet one that lives inside"""

COMPILED_BUFFERS = 48
"""from this many buffers on arrays cost less than they save"""

INTERPRETED_BUFFERS = 400
"""below this many plain Python is done before a first compile would be"""


@dataclass(frozen=True, slots=True)
class BufferRequest:
    """A buffer that wants a place."""

    name: str
    """tensor or purpose"""
    role: str
    """weights | in slot | out slot | work | code"""
    size: int
    """bytes, >= 0"""
    first: int
    """first operation that needs it, in program order"""
    last: int
    """last operation that needs it, included"""
    align: int = 4
    """its offset is a multiple of this many bytes"""

    def __post_init__(self) -> None:
        if self.size < 0 or self.align < 1 or self.last < self.first:
            raise ValueError(
                f"buffer '{self.name}': size {self.size} B must be >= 0, align {self.align} B "
                f">= 1, and it must not end ({self.last}) before it starts ({self.first})"
            )


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each buffer lies."""

    offsets: tuple[int, ...]
    """bytes from the start of the data SRAM, in the order of the requests"""
    peak: int
    """bytes from the start to the end of the highest buffer"""
    max_live: int
    """most bytes alive at one operation: no layout has a smaller peak"""
    capacity: int
    """bytes there are"""

    @property
    def fits(self) -> bool:
        """True when every buffer lies within the capacity"""
        return self.peak <= self.capacity

    @property
    def overflow(self) -> int:
        """bytes beyond the capacity, 0 when it fits"""
        return max(0, self.peak - self.capacity)


def plan_layout(requests: Sequence[BufferRequest], capacity: int) -> Layout:
    """Give every buffer an offset, none overlapping one that lives at the same time.

    The peak may exceed `capacity`: that is a result, not an error.
    """
    bound = _max_live(requests)
    if not requests:
        return Layout((), 0, 0, capacity)
    sizes = _sizes(requests)
    operations = int(sizes.last.max()) + 1
    room = sizes, build_windows(sizes, WINDOW if operations > 2 * WINDOW else operations)
    peak, offsets, order = sys.maxsize, [], []
    for tried in _start_orders(sizes):
        found, placed = _place_in_order(room, tried, [-1] * len(requests), peak - 1)
        if found >= 0:
            peak, offsets, order = found, placed, tried
        if peak == bound:
            break
    moves = min(MAX_MOVES, MAX_VISITS // (len(requests) + _meetings(requests)))
    if peak > bound and moves:
        peak, offsets = _climb(requests, room, order, offsets, (peak, bound, moves))
    return Layout(tuple(offsets), peak, bound, capacity)


def _sizes(requests: Sequence[BufferRequest]) -> Sizes:
    """Return the requests as arrays, their lives from operation 0 on."""
    begin = min(request.first for request in requests)
    columns = [(r.size, r.first - begin, r.last - begin, r.align) for r in requests]
    return Sizes(*np.array(columns, np.int64).T.copy())


def _max_live(requests: Sequence[BufferRequest]) -> int:
    """Most bytes alive at one operation."""
    changes = sorted(
        change
        for request in requests
        for change in ((request.first, request.size), (request.last + 1, -request.size))
    )
    live = most = 0
    for _, size in changes:
        live += size
        most = max(most, live)
    return most


def _meetings(requests: Sequence[BufferRequest]) -> int:
    """Pairs of buffers that live at the same time."""
    lives = np.array(sorted((r.first, r.last) for r in requests if r.size), np.int64).reshape(-1, 2)
    begun = np.searchsorted(lives[:, 0], lives[:, 1], side="right")
    return int((begun - np.arange(len(lives)) - 1).sum())


def _meeting(requests: Sequence[BufferRequest]) -> list[list[int]]:
    """The buffers that live at the same time as each buffer; empty ones meet none."""
    meets: list[list[int]] = [[] for _ in requests]
    active: list[int] = []
    for now in sorted(range(len(requests)), key=lambda n: (requests[n].first, n)):
        if not requests[now].size:
            continue
        active = [other for other in active if requests[other].last >= requests[now].first]
        for other in active:
            meets[now].append(other)
            meets[other].append(now)
        active.append(now)
    return meets


def _start_orders(sizes: Sizes) -> list[list[int]]:
    """Orders worth a first try: by size, by bytes x life, by life, by first use."""
    size, span = sizes.size, sizes.last - sizes.first + 1
    keys = ((-size, -span), (-size * span, -size), (-span, -size), (sizes.first, -size))
    return [np.lexsort((second, first)).tolist() for first, second in keys]


def _place_in_order(
    room: tuple[Sizes, Windows], order: Sequence[int], offsets: Sequence[int], most: int
) -> tuple[int, list[int]]:
    """Place the buffers of `order`, each in the tightest gap that holds it, beside those placed.

    An offset of -1 stands for not yet placed. Returns the highest end of the buffers placed, or
    -1 as soon as one ends beyond `most`, and all offsets.
    """
    (sizes, windows), count = room, len(offsets)
    compiled = place_in_order.ready or place_in_order.cached or count > INTERPRETED_BUFFERS
    if count < COMPILED_BUFFERS or not compiled or compiling_is_off():
        placed: Any = list(offsets)
        wanted: Any = list(order)
        lists = to_lists(sizes), wanted, placed, to_lists(windows)
        return place_in_order.interpret(*lists, most), placed
    placed = np.array(offsets, np.int64)
    peak = place_in_order(sizes, np.array(order, np.int64), placed, windows, most)
    return int(peak), placed.tolist()


def _climb(
    requests: Sequence[BufferRequest],
    room: tuple[Sizes, Windows],
    order: list[int],
    offsets: list[int],
    limits: tuple[int, int, int],
) -> tuple[int, list[int]]:
    """Place a buffer of the peak, or one beside it, before another that it meets, if that pays.

    What lies before the new position keeps its place, so only the rest is placed again. `limits`
    are the peak so far, the least there can be, and the moves tried.
    """
    peak, bound, moves = limits
    meets, dice = _meeting(requests), random.Random(SEED)
    for _ in range(moves):
        if peak == bound:
            break
        ends = [offset + request.size for offset, request in zip(offsets, requests, strict=True)]
        top = dice.choice([n for n in order if ends[n] == peak])
        moved = dice.choice([top, *meets[top]])
        at = order.index(moved)
        to = dice.choice([n for n in range(at) if order[n] in meets[moved]] or [at])
        trial = [*order[:to], moved, *order[to:at], *order[at + 1 :]]
        again = list(offsets)
        for later in trial[to:]:
            again[later] = -1
        high, again = _place_in_order(room, trial[to:], again, peak)
        if high >= 0:
            kept = max((ends[n] for n in trial[:to]), default=0)
            order, offsets, peak = trial, again, max(high, kept)
    return peak, offsets


def _warm_up() -> None:
    """Place one buffer, compiled."""
    one, none = np.ones(1, np.int64), np.zeros(1, np.int64)
    sizes = Sizes(one, none, none, one)
    place_in_order(sizes, none, -one, build_windows(sizes, 1), 1)


register_warm_up("layout", _warm_up)
