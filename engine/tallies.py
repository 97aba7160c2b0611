"""Amounts that grow from step to step, of many rows, kept only where they grow; and what is held.

A row of a large run stands still in most steps, so tables of rows x steps would be mostly copies.
Knows steps, not what is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Cumulative amounts at the boundaries of all steps; R rows, N growths; all arrays int64."""

    steps: int
    """number of steps"""
    start: np.ndarray
    """(R + 1,) CSR over rows of the next three"""
    step: np.ndarray
    """(N,) steps in which a row grows, rising"""
    before: np.ndarray
    """(N,) amount at the start of the step"""
    after: np.ndarray
    """(N,) amount at its end"""
    step_start: np.ndarray
    """(steps + 1,) CSR over steps of the next two"""
    grower: np.ndarray
    """(N,) rows that grow in a step, rising"""
    growth: np.ndarray
    """(N,) place of the row's growth in `before` and `after`"""

    @classmethod
    def of(
        cls, shape: tuple[int, int], row: np.ndarray, step: np.ndarray, amounts: np.ndarray
    ) -> Tallies:
        """Collect growths, sorted by row and step; `shape` is (rows, steps).

        `amounts` is int64 (2, N): before and after. What does not grow is dropped.
        """
        grows = amounts[1] > amounts[0]
        row, step, (before, after) = row[grows], step[grows], amounts[:, grows]
        order = np.argsort(step, kind="stable")
        rows, steps = shape
        return cls(
            steps, np.searchsorted(row, np.arange(rows + 1)), step, before, after,
            np.searchsorted(step[order], np.arange(steps + 1)), row[order], order,
        )  # fmt: skip

    @property
    def rows(self) -> int:
        """number of rows"""
        return len(self.start) - 1

    def grown(self, row: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (steps in which a row grows, amounts before, amounts after)."""
        mine = slice(self.start[row], self.start[row + 1])
        return self.step[mine], self.before[mine], self.after[mine]

    def row(self, row: int, steps: slice = slice(None)) -> np.ndarray:
        """Return the amounts of a row at the boundaries of neighbouring steps, one more of them."""
        begin, end, _ = steps.indices(self.steps)
        step, before, after = self.grown(row)
        low, high = np.searchsorted(step, (begin, end))
        amounts = np.zeros(end - begin + 1, np.int64)
        amounts[step[low:high] - begin + 1] = (after - before)[low:high]
        if low:
            amounts[0] = after[low - 1]
        return np.asarray(np.cumsum(amounts, out=amounts))

    def in_step(self, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (rows that grow in a step, their amounts before, their amounts after)."""
        mine = slice(self.step_start[step], self.step_start[step + 1])
        places = self.growth[mine]
        return self.grower[mine], self.before[places], self.after[places]

    def totals(self) -> np.ndarray:
        """Return the last amount of every row, int64 (R,)."""
        found = np.zeros(self.rows, np.int64)
        used = np.flatnonzero(np.diff(self.start))
        found[used] = self.after[self.start[used + 1] - 1]
        return found

    def growths(self) -> np.ndarray:
        """Return what all rows together grow by in each step, int64 (steps,)."""
        found = np.zeros(self.steps, np.int64)
        np.add.at(found, self.step, self.after - self.before)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """How many are held in each step: begun and not yet freed."""

    steps: int
    """number of steps"""
    begun: np.ndarray
    """int64, rising: first step in which one more is held"""
    freed: np.ndarray
    """int64, rising: first step in which one less is held"""

    @classmethod
    def of(cls, begun: np.ndarray, freed: np.ndarray, at: np.ndarray) -> Held:
        """Return what is held at the start of each step; begun, freed and `at` are cycles."""
        steps = (np.searchsorted(at, np.sort(times)) for times in (begun, freed))
        return cls(len(at), *steps)

    def row(self) -> np.ndarray:
        """Return the number held in every step, int64 (steps,)."""
        change = np.zeros(self.steps + 1, np.int64)
        self.add_to(change, 1)
        return np.asarray(np.cumsum(change[:-1]))

    def at(self, step: int) -> int:
        """Return the number held in a step."""
        begun, freed = (np.searchsorted(x, step, "right") for x in (self.begun, self.freed))
        return int(begun - freed)

    def add_to(self, change: np.ndarray, size: int) -> None:
        """Add `size` each to the changes from step to step, int64 (steps + 1,), in place."""
        np.add.at(change, self.begun, size)
        np.add.at(change, self.freed, -size)


def add_most(parts: Sequence[Held], change: np.ndarray, sizes: Sequence[int]) -> None:
    """Add what the part with the most holds, each of its own size, to the changes, in place."""
    if len(parts) == 1:
        parts[0].add_to(change, sizes[0])
        return
    steps = np.unique(np.concatenate([each for p in parts for each in (p.begun, p.freed)]))
    held = [
        size * (np.searchsorted(part.begun, steps, "right")
                - np.searchsorted(part.freed, steps, "right"))
        for part, size in zip(parts, sizes, strict=True)
    ]  # fmt: skip
    change[steps] += np.diff(np.max(held, axis=0), prepend=0)
