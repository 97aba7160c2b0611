"""What counts beside the bottleneck, on paper and in placements."""

from __future__ import annotations

import numpy as np
import pytest

from lowering.stages.bisection import ASPECTS
from lowering.stages.objective import DEFAULT_OBJECTIVE, Objective
from lowering.stages.placement import Placement, place
from tests.lowering.stages.test_placement import placed, random_works, smooth


def test_square_costs_its_area_and_a_strip_more() -> None:
    assert DEFAULT_OBJECTIVE.price(4, 4) == pytest.approx(16)
    assert DEFAULT_OBJECTIVE.price(2, 8) == pytest.approx(16 * 1.140625)
    assert DEFAULT_OBJECTIVE.price(1, 16) == pytest.approx(16 * 1.87890625)


def test_without_weight_every_shape_costs_its_area() -> None:
    assert Objective(square=0).price(np.array([4, 2, 1]), np.array([4, 8, 16])).tolist() == [16] * 3


def test_full_weight_is_the_square_on_the_half_perimeter() -> None:
    assert Objective(square=100).price(2, 8) == pytest.approx(25)


def test_losses_are_parts_of_the_bottleneck() -> None:
    assert Objective(aspect_loss=10).loosened(1000) == 1100
    assert Objective(aspect_loss=0).loosened(7) == 7
    assert Objective(block_loss=25).unblocked(1000) == 800


def ratio(placement: Placement) -> float:
    return max(max(r.rows / r.cols, r.cols / r.rows) for r in placement.regions)


def test_a_loss_buys_places_that_are_less_thin() -> None:
    tables = [smooth(work) for work in random_works(5, 24)]
    strict, loose = (
        placed(place(tables, 300, 240, objective=Objective(aspect_loss=loss))) for loss in (0, 60)
    )
    assert loose.tau <= 1.6 * strict.tau
    assert strict.tau < loose.tau
    assert ratio(loose) < ratio(strict)
    assert ratio(loose) <= ASPECTS[0]


def test_no_loss_for_blocks_gives_the_shelves_of_none() -> None:
    tables = [smooth(work) for work in [3 * 10**6, 10**6, 2 * 10**6]] * 7
    alike = [(0, 3, 7)]
    free = placed(place(tables, 300, 240, blocks=[]))
    tight = placed(place(tables, 300, 240, blocks=alike, objective=Objective(block_loss=0)))
    equal = placed(place(tables, 300, 240, blocks=alike, objective=Objective(block_loss=100)))
    assert tight.tau <= free.tau <= equal.tau
    sizes = [(region.rows, region.cols) for region in equal.regions]
    assert sizes == sizes[:3] * 7
