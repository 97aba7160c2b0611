"""Best fit in order: compiled, interpreted and by slices of a byte map."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from engine.timing.state import to_lists
from lowering.stages.layout_jit import Sizes, build_windows, place_in_order

SPAN = 12


def random_sizes(dice: random.Random, count: int) -> Sizes:
    firsts = [dice.randrange(SPAN) for _ in range(count)]
    lasts = [dice.randrange(first, SPAN) for first in firsts]
    rows = [
        [dice.choice((0, 4, 12, 40, 100)) for _ in range(count)], firsts, lasts,
        [dice.choice((4, 8, 16)) for _ in range(count)],
    ]  # fmt: skip
    return Sizes(*(np.array(row, np.int64) for row in rows))


def plain_offset(sizes: Sizes, offsets: list[int], buffer: int) -> int:
    """The start of the tightest run of free bytes that holds a buffer, the last run endless."""
    size, align = int(sizes.size[buffer]), int(sizes.align[buffer])
    taken = np.zeros(1 << 14, bool)
    for other, offset in enumerate(offsets):
        meets = (
            sizes.first[other] <= sizes.last[buffer] and sizes.first[buffer] <= sizes.last[other]
        )
        if offset >= 0 and meets and size:
            taken[offset : offset + int(sizes.size[other])] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[True], taken, [True]]).astype(np.int8)))
    runs = [(end - start, start) for start, end in edges.reshape(-1, 2).tolist()]
    inside = [
        (end - -(-start // align) * align, -(-start // align) * align)
        for (length, start) in runs
        for end in [start + length]
        if end < len(taken)
    ]
    fitting = [gap for gap in inside if gap[0] >= size]
    last = runs[-1][1]
    return min(fitting)[1] if fitting and size else -(-last // align) * align


@pytest.mark.parametrize("width", [1, 5, SPAN])
@pytest.mark.parametrize("seed", range(12))
def test_compiled_and_interpreted_best_fit_follow_the_byte_map(seed: int, width: int) -> None:
    dice = random.Random(seed)
    count = 40
    sizes = random_sizes(dice, count)
    order = dice.sample(range(count), count)
    expected = [-1] * count
    for buffer in order:
        expected[buffer] = plain_offset(sizes, expected, buffer)
    peak = max(o + s for o, s in zip(expected, sizes.size.tolist(), strict=True))
    placed = np.full(count, -1, np.int64)
    windows = build_windows(sizes, width)
    assert place_in_order(sizes, np.array(order), placed, windows, 1 << 40) == peak
    wanted: Any = order
    offsets: Any = [-1] * count
    rooms = to_lists(sizes), to_lists(windows)
    assert place_in_order.interpret(rooms[0], wanted, offsets, rooms[1], 1 << 40) == peak
    assert placed.tolist() == offsets == expected


def test_a_buffer_beyond_the_limit_stops_the_attempt() -> None:
    one = np.ones(2, np.int64)
    sizes = Sizes(8 * one, 0 * one, 0 * one, 4 * one)
    fresh = np.full(2, -1, np.int64)
    assert place_in_order(sizes, np.arange(2), fresh, build_windows(sizes, 1), 15) == -1
