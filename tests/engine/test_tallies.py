"""Amounts kept where they grow, and what is held, against tables of all steps."""

from __future__ import annotations

import numpy as np
import pytest

from engine.tallies import Held, Tallies, add_most


def random_table(seed: int) -> np.ndarray:
    """Return cumulative amounts (rows, steps + 1) that stand still in most steps."""
    rng = np.random.default_rng(seed)
    growth = rng.integers(0, 9, (5, 12)) * (rng.random((5, 12)) < 0.3)
    growth[rng.integers(0, 5)] = 0
    return np.concatenate([np.zeros((5, 1), np.int64), np.cumsum(growth, axis=1)], axis=1)


def tallies_of(table: np.ndarray) -> Tallies:
    rows, steps = table.shape[0], table.shape[1] - 1
    row, step = (x.ravel() for x in np.indices((rows, steps)))
    amounts = np.stack([table[:, :-1].ravel(), table[:, 1:].ravel()])
    return Tallies.of((rows, steps), row, step, amounts)


@pytest.mark.parametrize("seed", range(8))
def test_rows_parts_of_rows_and_totals_are_those_of_the_table(seed: int) -> None:
    table = random_table(seed)
    tallies = tallies_of(table)
    assert (tallies.rows, tallies.steps) == (5, 12)
    for row in range(5):
        np.testing.assert_array_equal(tallies.row(row), table[row])
        for begin, end in ((0, 1), (3, 4), (2, 9), (11, 12)):
            np.testing.assert_array_equal(
                tallies.row(row, slice(begin, end)), table[row, begin : end + 1]
            )
    np.testing.assert_array_equal(tallies.totals(), table[:, -1])
    np.testing.assert_array_equal(tallies.growths(), np.diff(table, axis=1).sum(axis=0))


@pytest.mark.parametrize("seed", range(8))
def test_a_step_names_the_rows_that_grow_in_it(seed: int) -> None:
    table = random_table(seed)
    tallies = tallies_of(table)
    for step in range(12):
        rows, before, after = tallies.in_step(step)
        assert rows.tolist() == np.flatnonzero(table[:, step + 1] > table[:, step]).tolist()
        np.testing.assert_array_equal(before, table[rows, step])
        np.testing.assert_array_equal(after, table[rows, step + 1])


@pytest.mark.parametrize(("at", "held"), [(0, 0), (1, 1), (4, 2), (5, 1), (9, 0)])
def test_what_is_held_was_begun_and_not_yet_freed(at: int, held: int) -> None:
    cycles = np.arange(12)
    found = Held.of(np.array([4, 1]), np.array([9, 5]), cycles)
    assert found.at(at) == found.row()[at] == held
    change = np.zeros(13, np.int64)
    found.add_to(change, 3)
    np.testing.assert_array_equal(np.cumsum(change)[:-1], 3 * found.row())


def test_between_steps_counts_from_the_next_one() -> None:
    found = Held.of(np.array([3]), np.array([7]), np.array([0, 2, 4, 8]))
    assert found.row().tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("seed", range(12))
def test_of_parts_that_share_room_the_most_held_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(int(rng.integers(1, 4))):
        begun = rng.integers(0, 20, int(rng.integers(0, 6)))
        parts.append(Held.of(begun, begun + rng.integers(1, 9, len(begun)), np.arange(20)))
    change = np.zeros(21, np.int64)
    sizes = rng.integers(1, 5, len(parts)).tolist()
    add_most(parts, change, sizes)
    most = np.max([size * part.row() for part, size in zip(parts, sizes, strict=True)], axis=0)
    np.testing.assert_array_equal(np.cumsum(change)[:-1], most)
