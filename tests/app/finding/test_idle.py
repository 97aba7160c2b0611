"""Idle regions: connected, by cause, largest loss first."""

from __future__ import annotations

import numpy as np
import pytest

from app.finding.components import boxes, label
from app.finding.idle import NOT_IDLE, idle_areas, idle_map, levers
from app.views.build_idle import view_idle
from engine.causes import CAUSES
from lowering.config import KNOBS
from tests.app.sessions import mlp_run


def _flood(codes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Label by walking, the obvious way."""
    labels, count = np.full(codes.shape, -1), 0
    for row, col in np.argwhere(wanted):
        if labels[row, col] >= 0:
            continue
        todo = [(int(row), int(col))]
        while todo:
            r, c = todo.pop()
            inside = 0 <= r < codes.shape[0] and 0 <= c < codes.shape[1]
            if (
                not inside
                or not wanted[r, c]
                or labels[r, c] >= 0
                or codes[r, c] != codes[row, col]
            ):
                continue
            labels[r, c] = count
            todo += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
        count += 1
    return labels


@pytest.mark.parametrize("seed", range(20))
def test_labels_equal_a_walk(seed: int) -> None:
    dice = np.random.default_rng(seed)
    shape = tuple(dice.integers(1, 14, 2))
    codes = dice.integers(0, 3, shape).astype(np.uint8)
    wanted = dice.random(shape) < 0.8
    labels, count = label(codes, wanted)
    np.testing.assert_array_equal(labels, _flood(codes, wanted))
    assert count == labels.max(initial=-1) + 1


def test_diagonal_neighbours_are_apart_and_spirals_hold_together() -> None:
    eye = np.eye(3, dtype=bool)
    assert label(np.zeros((3, 3), np.uint8), eye)[1] == 3
    spiral = np.array([[1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]], bool)
    labels, count = label(np.zeros((4, 4), np.uint8), spiral)
    assert count == 1
    assert boxes(labels, np.array([0])) == [(0, 0, 4, 4)]


def test_areas_are_idle_disjoint_in_loss_and_sorted() -> None:
    found = idle_map(mlp_run(), None)
    areas = idle_areas(found)
    assert areas
    assert all(area.cause not in NOT_IDLE for area in areas)
    lost = [area.lost for area in areas]
    assert lost == sorted(lost, reverse=True)
    assert sum(lost) <= sum(n for cause, n in found.totals if cause not in NOT_IDLE)


def test_step_causes_sum_to_its_cycles() -> None:
    run = mlp_run()
    found = idle_map(run, 9)
    assert sum(n for _, n in found.totals) == pytest.approx(64 * 64 * found.cycles, rel=1e-4)


def test_step_map_agrees_with_the_fields_on_idle_pes() -> None:
    run = mlp_run()
    ours, theirs = idle_map(run, 9).dominant, run.execution.fields.field("cause", 9)
    np.testing.assert_array_equal(ours, theirs)


def test_levers_are_knobs_that_exist() -> None:
    for cause in CAUSES:
        assert set(levers(cause)) <= KNOBS.keys()


def test_view_promises_no_gain_and_names_the_place() -> None:
    view = view_idle(mlp_run(), None)
    first = view.regions[0]
    row, _, rows, cols = first.rect
    assert f"rows {row}..{row + rows - 1}" in first.sentence
    assert first.share == pytest.approx(first.pe_cycles / (64 * 64 * view.cycles))
    assert 0 < view.idle_share < 1
    assert cols >= 1


def test_the_causes_of_idling_are_idle_and_sum_to_the_idle_share() -> None:
    view = view_idle(mlp_run(), None)
    assert not {cause for cause, _ in view.causes} & set(NOT_IDLE)
    assert [share for _, share in view.causes] == sorted((s for _, s in view.causes), reverse=True)
    assert sum(share for _, share in view.causes) == pytest.approx(view.idle_share)
