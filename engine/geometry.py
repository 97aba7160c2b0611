"""Rectangles of PEs and balanced splits: the two shapes everything else is made of.

Coordinates are (row, col), row 0 north, col 0 west. Knows nothing of kernels or time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle of PEs."""

    row: int
    """northmost row"""
    col: int
    """westmost column"""
    rows: int
    """height in PEs, >= 1"""
    cols: int
    """width in PEs, >= 1"""

    def __post_init__(self) -> None:
        if self.rows < 1 or self.cols < 1:
            raise ValueError(f"rectangle of {self.rows}x{self.cols} PEs is empty")

    @property
    def end_row(self) -> int:
        """first row below the rectangle"""
        return self.row + self.rows

    @property
    def end_col(self) -> int:
        """first column east of the rectangle"""
        return self.col + self.cols

    @property
    def area(self) -> int:
        """number of PEs"""
        return self.rows * self.cols

    def contains(self, row: int, col: int) -> bool:
        """Tell whether PE (row, col) lies inside."""
        return self.row <= row < self.end_row and self.col <= col < self.end_col

    def overlaps(self, other: Rect) -> bool:
        """Tell whether the two rectangles share a PE."""
        return (
            self.row < other.end_row
            and other.row < self.end_row
            and self.col < other.end_col
            and other.col < self.end_col
        )

    def slices(self) -> tuple[slice, slice]:
        """Return the index that cuts this rectangle out of a (rows, cols) array."""
        return slice(self.row, self.end_row), slice(self.col, self.end_col)


@dataclass(frozen=True, slots=True)
class Split:
    """`total` items over `parts` owners, in order, sizes differing by at most one.

    The first `total % parts` owners hold one item more.
    """

    total: int
    """number of items, >= 0"""
    parts: int
    """number of owners, >= 1"""

    def __post_init__(self) -> None:
        if self.parts < 1 or self.total < 0:
            raise ValueError(f"cannot split {self.total} items over {self.parts} owners")

    @property
    def largest(self) -> int:
        """items of the fullest owner"""
        return -(-self.total // self.parts)

    def size(self, part: int) -> int:
        """Return the number of items of owner `part`."""
        return self.total // self.parts + (part < self.total % self.parts)

    def start(self, part: int) -> int:
        """Return the first item of owner `part`; `start(parts)` is `total`."""
        return part * (self.total // self.parts) + min(part, self.total % self.parts)

    def owner(self, item: int) -> int:
        """Return the owner of `item`."""
        small, extra = divmod(self.total, self.parts)
        head = extra * (small + 1)
        return item // (small + 1) if item < head else extra + (item - head) // small

    def sizes(self) -> np.ndarray:
        """Return the items of every owner, int64 (parts,)."""
        sizes = np.full(self.parts, self.total // self.parts, np.int64)
        sizes[: self.total % self.parts] += 1
        return sizes

    def runs(self) -> tuple[tuple[int, int, int], ...]:
        """Return (first owner, number of owners, items each) of the owners with equal sizes."""
        small, extra = divmod(self.total, self.parts)
        runs = ((0, extra, small + 1), (extra, self.parts - extra, small))
        return tuple(run for run in runs if run[1] and run[2])
