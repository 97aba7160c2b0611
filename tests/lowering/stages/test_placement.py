"""Placements: legal, near the bound of areas, and a reason when there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from engine.geometry import Rect
from lowering.stages.infeasible import Infeasible
from lowering.stages.placement import Placement, place
from lowering.stages.shapes import BIG, ShapeTable

ROWS, COLS = 300, 240


def smooth(work: int, rows: int = ROWS, cols: int = COLS, least_pes: int = 1) -> ShapeTable:
    """A kernel that splits without loss; fewer than `least_pes` PEs cannot hold it."""
    heights = np.unique(np.geomspace(1, rows, 48).astype(np.int64))
    widths = np.tile(np.arange(1, cols + 1), (len(heights), 1))
    pes = heights[:, None] * widths
    return ShapeTable(heights, widths, np.where(pes >= least_pes, -(-work // pes), BIG))


def fixed(high: int, wide: int, cycles: int = 10) -> ShapeTable:
    return ShapeTable(np.array([high]), np.array([[wide]]), np.array([[cycles]]))


def placed(result: Placement | Infeasible) -> Placement:
    assert isinstance(result, Placement), result
    return result


def refused(result: Placement | Infeasible) -> Infeasible:
    assert isinstance(result, Infeasible), result
    return result


def assert_legal(placement: Placement, rows: int, cols: int) -> None:
    used = np.zeros((rows, cols), np.int64)
    for region in placement.regions:
        assert region.row >= 0
        assert region.col >= 0
        assert region.end_row <= rows
        assert region.end_col <= cols
        used[region.slices()] += 1
    assert used.max() == 1
    assert placement.fill == pytest.approx(used.sum() / (rows * cols))


def random_works(seed: int, count: int) -> list[int]:
    dice = np.random.default_rng(seed)
    return [int(work) for work in np.exp(dice.normal(0, 1, count)) * 1e7]


def test_one_kernel_takes_the_grid() -> None:
    placement = placed(place([fixed(4, 6, cycles=7)], 4, 6))
    assert placement.regions == (Rect(0, 0, 4, 6),)
    assert (placement.tau, placement.bound, placement.fill) == (7, 7, 1.0)


def test_shelves_run_east_then_west() -> None:
    placement = placed(place([fixed(2, 3), fixed(2, 3), fixed(2, 3), fixed(2, 3)], 4, 6))
    assert placement.regions == (
        Rect(0, 0, 2, 3), Rect(0, 3, 2, 3), Rect(2, 3, 2, 3), Rect(2, 0, 2, 3),
    )  # fmt: skip
    assert [shelf.is_eastward for shelf in placement.shelves] == [True, False]
    assert [shelf.kernels for shelf in placement.shelves] == [(0, 2), (2, 2)]


def test_small_kernels_share_a_column() -> None:
    # The tall kernel leaves 2 columns of 4 rows: room for four 2x1 kernels only in pairs.
    tables = [fixed(4, 2), *[fixed(2, 1)] * 4]
    placement = placed(place(tables, 4, 4))
    assert_legal(placement, 4, 4)
    assert placement.fill == 1.0


def test_bottleneck_is_balanced_by_work() -> None:
    # Exact answer by hand: 30 and 10 units of work on 4 columns of 1 row: 3 and 1 columns.
    heights = np.array([1])
    widths = np.array([[1, 2, 3]])
    tables = [ShapeTable(heights, widths, -(-work // widths)) for work in (30, 10)]
    placement = placed(place(tables, 1, 4))
    assert placement.regions == (Rect(0, 0, 1, 3), Rect(0, 3, 1, 1))
    assert (placement.tau, placement.cycles) == (10, (10, 10))


@pytest.mark.parametrize("count", [2, 7, 20, 60])
def test_random_pipelines_come_near_the_bound(count: int) -> None:
    for seed in range(3):
        placement = placed(place([smooth(w) for w in random_works(seed, count)], ROWS, COLS))
        assert_legal(placement, ROWS, COLS)
        assert placement.bound <= placement.tau <= 1.05 * placement.bound + 1
        assert placement.fill >= 0.9


def test_contest_like_grid_is_filled() -> None:
    # The ISPD 2020 grid (633x633) and 16 kernels as unequal as its case A.
    tables = [smooth(work, 633, 633) for work in random_works(2020, 16)]
    placement = placed(place(tables, 633, 633))
    assert_legal(placement, 633, 633)
    assert placement.fill >= 0.9
    assert placement.tau <= 1.05 * placement.bound


def test_neighbours_in_the_pipeline_are_neighbours_on_the_mesh() -> None:
    regions = placed(place([smooth(w) for w in random_works(1, 20)], ROWS, COLS)).regions
    for one, two in itertools.pairwise(regions):
        apart_rows = max(one.row, two.row) - min(one.end_row, two.end_row)
        apart_cols = max(one.col, two.col) - min(one.end_col, two.end_col)
        assert max(apart_rows, apart_cols) < 60


def test_regions_are_no_thin_strips() -> None:
    regions = placed(place([smooth(w) for w in random_works(4, 40)], ROWS, COLS)).regions
    ratios = [max(r.rows / r.cols, r.cols / r.rows) for r in regions]
    assert np.median(ratios) <= 4
    assert max(ratios) <= 33


def test_small_model_is_not_spread() -> None:
    placement = placed(place([smooth(100)] * 9, ROWS, COLS))
    assert placement.tau == placement.bound == 1
    assert max(region.end_col for region in placement.regions) <= 60
    assert max(region.end_row for region in placement.regions) <= 60


def test_kernels_keep_their_cap() -> None:
    placement = placed(place([smooth(10**6), smooth(10**6)], ROWS, COLS, cap_pes={1: 50}))
    assert placement.regions[1].area <= 50
    assert placement.tau == 10**6 // 50


def test_more_kernels_than_rows() -> None:
    placement = placed(place([smooth(50, 3, 12)] * 30, 3, 12))
    assert_legal(placement, 3, 12)
    assert len(placement.regions) == 30


def test_shelf_cap_gives_way_when_the_grid_is_too_flat() -> None:
    placement = placed(place([fixed(1, 1)] * 30, 1, 30, max_shelf=8))
    assert placement.fill == 1.0


def test_equal_blocks_get_equal_shelves() -> None:
    block = [smooth(w) for w in random_works(5, 6)]
    tables = [smooth(10**6), *block * 12, smooth(10**6)]
    placement = placed(place(tables, ROWS, COLS, blocks=[(1, 6, 12)]))
    assert_legal(placement, ROWS, COLS)
    sizes = [(region.rows, region.cols) for region in placement.regions[1:-1]]
    repeats = {tuple(sizes[at : at + 24]) for at in range(0, 72, 24)}
    assert len(repeats) == 1
    free = placed(place(tables, ROWS, COLS))
    assert placement.tau <= 1.06 * free.tau


def test_placement_repeats() -> None:
    tables = [smooth(w) for w in random_works(8, 25)]
    assert place(tables, ROWS, COLS) == place(list(tables), ROWS, COLS)


def test_kernel_that_fits_nowhere_is_named() -> None:
    tables = [smooth(100), smooth(100, least_pes=ROWS * COLS + 1), smooth(100)]
    report = refused(place(tables, ROWS, COLS))
    assert (report.resource, report.kernels) == ("shape", (1,))
    assert report.sentence.startswith("no size within 300x240 PEs holds kernel 1; ")


def test_too_many_pes_are_counted() -> None:
    report = refused(place([smooth(10, 8, 8, least_pes=20)] * 4, 8, 8))
    assert (report.resource, report.bound) == ("PEs", 64)
    assert report.demand >= 80
    assert report.gap == report.demand - 64


def test_areas_that_fit_but_do_not_pack_ask_for_rows() -> None:
    report = refused(place([fixed(3, 3)] * 2, 5, 5))
    assert (report.resource, report.demand, report.bound) == ("rows", 6, 5)
    assert "6 rows needed, 5 rows there (short by 1 row)" in report.sentence


def test_progress_may_stop_a_placement() -> None:
    def stop(stage: str, done: int, total: int, unit: str) -> None:
        raise InterruptedError(f"{stage} {done}/{total} {unit}")

    with pytest.raises(InterruptedError, match="place 0/1 plan"):
        place([smooth(10**6)] * 3, ROWS, COLS, progress=stop)


def test_empty_pipeline_is_refused() -> None:
    with pytest.raises(ValueError, match="no kernel"):
        place([], 4, 4)


def test_ragged_table_is_refused() -> None:
    with pytest.raises(ValueError, match="equal"):
        ShapeTable(np.array([1, 2]), np.ones((1, 3), np.int64), np.ones((1, 3), np.int64))
