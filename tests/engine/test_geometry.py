"""Rectangles and balanced splits."""

from __future__ import annotations

import numpy as np
import pytest

from engine.geometry import Rect, Split


def test_rectangle_ends_and_contains() -> None:
    rect = Rect(2, 3, 4, 5)
    assert (rect.end_row, rect.end_col, rect.area) == (6, 8, 20)
    assert rect.contains(2, 3)
    assert rect.contains(5, 7)
    assert not rect.contains(6, 3)
    assert not rect.contains(2, 8)


def test_rectangles_that_touch_do_not_overlap() -> None:
    rect = Rect(0, 0, 2, 2)
    assert not rect.overlaps(Rect(0, 2, 2, 2))
    assert not rect.overlaps(Rect(2, 0, 2, 2))
    assert rect.overlaps(Rect(1, 1, 5, 5))


def test_slices_cut_the_rectangle_out() -> None:
    plane = np.zeros((8, 9), np.int64)
    plane[Rect(2, 3, 4, 5).slices()] = 1
    assert plane.sum() == 20
    assert plane[2:6, 3:8].all()


def test_empty_rectangle_is_refused() -> None:
    with pytest.raises(ValueError, match="rectangle of 0x3 PEs is empty"):
        Rect(0, 0, 0, 3)


def test_first_owners_hold_one_more() -> None:
    split = Split(11, 4)
    assert split.sizes().tolist() == [3, 3, 3, 2]
    assert [split.start(part) for part in range(5)] == [0, 3, 6, 9, 11]
    assert split.runs() == ((0, 3, 3), (3, 1, 2))
    assert split.largest == 3


@pytest.mark.parametrize(("total", "parts"), [(0, 3), (2, 5), (7, 7), (30, 7), (1, 1)])
def test_all_answers_of_a_split_agree(total: int, parts: int) -> None:
    split = Split(total, parts)
    sizes = split.sizes().tolist()
    assert [split.size(part) for part in range(parts)] == sizes
    assert split.largest == max(sizes)
    owners = [part for part, size in enumerate(sizes) for _ in range(size)]
    assert [split.owner(item) for item in range(total)] == owners
    expanded = [size for _, count, size in split.runs() for _ in range(count)]
    assert expanded == [size for size in sizes if size]


def test_split_over_nobody_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot split 3 items over 0 owners"):
        Split(3, 0)
