"""Blocks of PEs reduced to one pixel each. Knows arrays only."""

from __future__ import annotations

import numpy as np


def block_starts(length: int, most: int) -> tuple[np.ndarray, int]:
    """Return where equal blocks start so that there are at most `most`, and their size."""
    size = -(-length // max(1, most))
    return np.arange(0, length, size), size


def pool(window: np.ndarray, height: int, width: int, kind: str) -> tuple[np.ndarray, int, int]:
    """Return the window reduced to at most height x width, and the block's rows and cols.

    `kind` is max, mean or mode (the commonest code, the lowest on ties); blocks at the south and
    east end may be smaller.
    """
    row_starts, row_size = block_starts(window.shape[0], height)
    col_starts, col_size = block_starts(window.shape[1], width)
    if row_size == col_size == 1:
        return window, 1, 1
    if kind == "max":
        reduced = np.maximum.reduceat(window, row_starts, axis=0)
        return np.maximum.reduceat(reduced, col_starts, axis=1), row_size, col_size
    if kind == "mean":
        totals = _sums(window.astype(np.float64), row_starts, col_starts)
        return totals / _sums(np.ones(window.shape), row_starts, col_starts), row_size, col_size
    if kind != "mode":
        raise ValueError(f"pooling is '{kind}', must be max, mean or mode")
    codes = np.flatnonzero(np.bincount(window.ravel())).astype(window.dtype)
    counts = np.stack(
        [_sums((window == code).astype(np.int32), row_starts, col_starts) for code in codes]
    )
    return codes[np.argmax(counts, axis=0)], row_size, col_size


def _sums(window: np.ndarray, row_starts: np.ndarray, col_starts: np.ndarray) -> np.ndarray:
    rows = np.add.reduceat(window, row_starts, axis=0)
    total: np.ndarray = np.add.reduceat(rows, col_starts, axis=1)
    return total


def bin_series(
    times: np.ndarray, values: np.ndarray, start: int, end: int, bins: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and peak of a step-wise constant series in `bins` equal parts of [start, end).

    `times` int64 (n + 1,) bounds the n `values`; the mean is weighted by cycles.
    """
    edges = np.linspace(start, end, bins + 1)
    lengths = np.diff(times).astype(np.float64)
    area = np.concatenate([[0.0], np.cumsum(values * lengths)])
    mean = np.diff(np.interp(edges, times, area)) / np.maximum(np.diff(edges), 1e-12)
    first = np.clip(np.searchsorted(times, edges[:-1], side="right") - 1, 0, len(values) - 1)
    last = np.clip(np.searchsorted(times, edges[1:], side="left") - 1, first, len(values) - 1)
    padded = np.append(values, -np.inf)
    bounds = np.stack([first, last + 1], axis=1).ravel()
    peak = np.maximum.reduceat(padded, bounds)[::2]
    return mean, peak
