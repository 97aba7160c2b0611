"""Blocks of PEs and bins of cycles."""

from __future__ import annotations

import numpy as np
import pytest

from app.views.pooling import bin_series, pool


def test_max_keeps_a_single_hot_pe() -> None:
    window = np.zeros((5, 7), np.int32)
    window[4, 6] = 9
    pooled, rows, cols = pool(window, 2, 3, "max")
    assert (rows, cols) == (3, 3)
    assert pooled.tolist() == [[0, 0, 0], [0, 0, 9]]


def test_mean_divides_by_the_cells_that_are_there() -> None:
    pooled, _, _ = pool(np.array([[1.0, 3.0, 8.0]]), 1, 2, "mean")
    assert pooled.tolist() == [[2.0, 8.0]]


def test_mode_takes_the_commonest_and_the_lowest_on_ties() -> None:
    pooled, _, _ = pool(np.array([[5, 5, 2, 7, 3, 3, 1, 1]], np.uint8), 1, 2, "mode")
    assert pooled.tolist() == [[5, 1]]


def test_enough_pixels_leave_the_window_alone() -> None:
    window = np.arange(6).reshape(2, 3)
    assert pool(window, 2, 3, "max")[0] is window


def test_unknown_pooling_is_refused() -> None:
    with pytest.raises(ValueError, match="median"):
        pool(np.zeros((4, 4)), 2, 2, "median")


def test_bins_weigh_by_cycles_and_keep_peaks() -> None:
    times, values = np.array([0, 10, 12, 20]), np.array([1.0, 9.0, 0.0])
    mean, peak = bin_series(times, values, 0, 20, 2)
    assert mean.tolist() == [1.0, 1.8]
    assert peak.tolist() == [1.0, 9.0]


def test_bins_finer_than_steps_repeat_them() -> None:
    mean, peak = bin_series(np.array([0, 4, 8]), np.array([2.0, 6.0]), 2, 6, 4)
    assert mean.tolist() == peak.tolist() == [2.0, 2.0, 6.0, 6.0]
