"""Shelves around blocked PEs."""

from __future__ import annotations

import numpy as np

from engine.geometry import Rect
from lowering.stages.defects import free_bands
from lowering.stages.infeasible import Infeasible
from lowering.stages.placement import Placement, place
from lowering.stages.shapes import ShapeTable

HEIGHTS = np.array([1, 2])


def square(side: int) -> ShapeTable:
    return ShapeTable(np.array([side]), np.array([[side]]), np.array([[10]]))


def smooth(work: int) -> ShapeTable:
    heights = np.arange(1, 41)
    widths = np.tile(np.arange(1, 41), (40, 1))
    return ShapeTable(heights, widths, -(-work // (heights[:, None] * widths)))


def test_band_keeps_its_widest_run() -> None:
    bands = free_bands(3, 8, HEIGHTS, [Rect(1, 2, 1, 1)])
    # Heights 1 and 2 from each row; the last row has no band of 2.
    assert bands.widths.tolist() == [[8, 5], [5, 5], [8, 0]]
    assert bands.starts[1, 0] == 3
    assert bands.ends == (2,)


def test_two_blocked_rectangles_share_a_band() -> None:
    bands = free_bands(2, 10, HEIGHTS, [Rect(0, 2, 1, 1), Rect(1, 6, 1, 2)])
    assert bands.widths.tolist() == [[7, 3], [6, 0]]
    assert bands.starts.tolist()[0] == [3, 3]


def test_kernels_keep_off_blocked_pes() -> None:
    result = place([square(3)] * 4, 6, 8, blocked=[Rect(1, 1, 1, 1)])
    assert isinstance(result, Placement)
    assert result.regions == (
        Rect(0, 2, 3, 3), Rect(0, 5, 3, 3), Rect(3, 5, 3, 3), Rect(3, 2, 3, 3),
    )  # fmt: skip


def test_shelf_starts_below_a_blocked_row() -> None:
    result = place([square(4)], 6, 4, blocked=[Rect(1, 0, 1, 4)])
    assert isinstance(result, Placement)
    assert result.regions == (Rect(2, 0, 4, 4),)


def test_blocked_centre_leaves_no_room() -> None:
    result = place([square(3)], 5, 5, blocked=[Rect(2, 2, 1, 1)])
    assert isinstance(result, Infeasible)
    assert result.resource == "rows"


def test_random_pipelines_keep_off_blocked_pes() -> None:
    for seed in range(8):
        dice = np.random.default_rng(seed)
        works = [int(work) for work in np.exp(dice.normal(0, 1, 15)) * 1e5]
        blocked = [Rect(int(row), int(col), 1, 1) for row, col in dice.integers(0, 40, (3, 2))]
        result = place([smooth(work) for work in works], 40, 40, blocked=blocked)
        assert isinstance(result, Placement)
        used = np.zeros((40, 40), np.int64)
        for region in (*result.regions, *set(blocked)):
            used[region.slices()] += 1
        assert used.max() == 1
        assert result.fill > 0.6
