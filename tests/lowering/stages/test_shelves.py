"""The shelf cuts against every cut there is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from lowering.stages.objective import DEFAULT_OBJECTIVE
from lowering.stages.shapes import Widths
from lowering.stages.shelves import MAX_STACK, fewest_rows, least_cost, shelf_widths

HEIGHTS = np.array([1, 2, 3, 5, 8])
LIMIT = 12


def random_widths(seed: int, count: int) -> Widths:
    dice = np.random.default_rng(seed)
    return dice.integers(1, LIMIT + 2, (count, len(HEIGHTS))).astype(np.int16)


def compositions(count: int, largest: int) -> Iterator[tuple[int, ...]]:
    if not count:
        yield ()
    for first in range(1, min(count, largest) + 1):
        for rest in compositions(count - first, largest):
            yield first, *rest


def stack_width(kernels: Widths, room: int) -> int:
    """Least width of kernels above each other in `room` rows, by trying every height."""
    if not len(kernels):
        return 0
    return min(
        (
            max(int(kernels[0, level]), stack_width(kernels[1:], room - int(height)))
            for level, height in enumerate(HEIGHTS)
            if height <= room
        ),
        default=LIMIT + 1,
    )


def shelf_width(kernels: Widths, height: int) -> int:
    """Least width of one shelf, by trying every way to share columns."""
    widths = []
    for parts in compositions(len(kernels), MAX_STACK):
        ends = np.cumsum(parts)
        cut = zip(ends - parts, ends, strict=True)
        widths.append(sum(stack_width(kernels[a:b], height) for a, b in cut))
    return min(widths)


def twin_rows(exact: Widths) -> int:
    """Fewest rows over all cuts."""
    best = [0] + [1 << 40] * len(exact)
    for end in range(1, len(exact) + 1):
        for start in range(end):
            fitting = [int(h) for h in HEIGHTS if shelf_width(exact[start:end], int(h)) <= LIMIT]
            if fitting:
                best[end] = min(best[end], best[start] + fitting[0])
    return best[-1]


@pytest.mark.parametrize("seed", range(12))
def test_fewest_rows_are_those_of_the_best_cut(seed: int) -> None:
    exact = random_widths(seed, 5)
    rows, shelves = fewest_rows(shelf_widths(exact, HEIGHTS, LIMIT, 5), HEIGHTS)
    assert rows == twin_rows(exact)
    if shelves:
        assert sum(HEIGHTS[shelf.level] for shelf in shelves) == rows
        assert shelves[0].start == 0
        assert sum(shelf.count for shelf in shelves) == 5


def test_shelf_length_is_capped() -> None:
    exact = np.ones((6, len(HEIGHTS)), np.int16)
    _, shelves = fewest_rows(shelf_widths(exact, HEIGHTS, LIMIT, 2), HEIGHTS)
    assert [shelf.count for shelf in shelves] == [2, 2, 2]


def test_kernel_that_fits_no_height_has_no_cut() -> None:
    exact = np.full((2, len(HEIGHTS)), LIMIT + 1, np.int16)
    rows, shelves = fewest_rows(shelf_widths(exact, HEIGHTS, LIMIT, 4), HEIGHTS)
    assert rows > 1 << 30
    assert shelves == ()


def test_dear_rows_give_the_flattest_cut() -> None:
    exact = random_widths(3, 8)
    exact[:, -1] = 2
    widths = shelf_widths(exact, HEIGHTS, LIMIT, 8)
    cheap, _ = least_cost(widths, exact, HEIGHTS, 0.0, DEFAULT_OBJECTIVE)
    dear, _ = least_cost(widths, exact, HEIGHTS, 1e6, DEFAULT_OBJECTIVE)
    assert dear == fewest_rows(widths, HEIGHTS)[0] <= cheap
