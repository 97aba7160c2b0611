"""Connected areas of equal codes on a grid. Knows arrays only."""

from __future__ import annotations

import numpy as np


def label(codes: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, int]:
    """Return labels (0.. by first cell in reading order, -1 elsewhere) int64, and their number.

    Cells belong together when they touch by a side, are `wanted` and have equal codes. Works on
    runs of cells along rows, merged downwards until nothing changes.
    """
    rows, cols = codes.shape
    breaks = np.ones((rows, cols), bool)
    breaks[:, 1:] = (codes[:, 1:] != codes[:, :-1]) | (wanted[:, 1:] != wanted[:, :-1])
    runs = np.cumsum(breaks).reshape(rows, cols) - 1
    joined = _joined_runs(codes, wanted, runs, breaks)
    parent = _components(int(runs[-1, -1]) + 1, joined)
    names = np.full(len(parent), -1, np.int64)
    kept = np.unique(parent[runs[wanted]])
    names[kept] = np.arange(len(kept))
    return np.where(wanted, names[parent[runs]], -1), len(kept)


def _joined_runs(
    codes: np.ndarray, wanted: np.ndarray, runs: np.ndarray, breaks: np.ndarray
) -> np.ndarray:
    """Return the pairs of runs that touch from one row to the next, int64 (n, 2)."""
    touch = (codes[1:] == codes[:-1]) & wanted[1:] & wanted[:-1]
    repeated = np.zeros_like(touch)
    repeated[:, 1:] = touch[:, :-1] & ~breaks[1:, 1:] & ~breaks[:-1, 1:]
    first = touch & ~repeated
    return np.stack([runs[:-1][first], runs[1:][first]], axis=1)


def _components(count: int, pairs: np.ndarray) -> np.ndarray:
    """Return the smallest member of each run's component, int64 (count,)."""
    parent = np.arange(count)
    while True:
        low = np.minimum(parent[pairs[:, 0]], parent[pairs[:, 1]])
        fresh = parent.copy()
        for side in (0, 1):
            np.minimum.at(fresh, parent[pairs[:, side]], low)
        while not np.array_equal(fresh, fresh[fresh]):
            fresh = fresh[fresh]
        if np.array_equal(fresh, parent):
            return parent
        parent = fresh


def boxes(labels: np.ndarray, chosen: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Return the bounding box (row, col, rows, cols) of each chosen label."""
    found = []
    for name in chosen:
        inside = labels == name
        rows = np.flatnonzero(inside.any(axis=1))
        cols = np.flatnonzero(inside.any(axis=0))
        found.append((int(rows[0]), int(cols[0]), int(rows[-1] - rows[0]) + 1,
                      int(cols[-1] - cols[0]) + 1))  # fmt: skip
    return found
