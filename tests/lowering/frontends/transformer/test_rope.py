"""Rotary frequencies, ALiBi slopes and sinusoids against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lowering.frontends.transformer import RopeScaling
from lowering.frontends.transformer.rope import alibi_slopes, frequencies, sinusoids


def test_frequencies_fall_from_one_by_theta() -> None:
    np.testing.assert_allclose(frequencies(8, 10000.0, None), [1, 0.1, 0.01, 0.001])


def test_linear_stretch_divides_all() -> None:
    found = frequencies(4, 100.0, RopeScaling("linear", 4.0))
    np.testing.assert_allclose(found, [0.25, 0.025])


def test_llama3_stretches_long_waves_alone() -> None:
    scaling = RopeScaling("llama3", 8.0, 1.0, 4.0, 8192)
    plain = frequencies(128, 500000.0, None)
    found = frequencies(128, 500000.0, scaling)
    wavelength = 2 * math.pi / plain
    short, long = wavelength < 8192 / 4, wavelength > 8192
    np.testing.assert_array_equal(found[short], plain[short])
    np.testing.assert_allclose(found[long], plain[long] / 8)
    between = ~short & ~long
    assert between.any()
    blend = (8192 / wavelength[between] - 1) / 3
    want = (1 - blend) * plain[between] / 8 + blend * plain[between]
    np.testing.assert_allclose(found[between], want)


@pytest.mark.parametrize(
    ("heads", "slopes"), [(2, [1 / 16, 1 / 256]), (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256])]
)
def test_alibi_slopes_are_a_geometric_row(heads: int, slopes: list[float]) -> None:
    np.testing.assert_allclose(alibi_slopes(heads), slopes)


def test_alibi_of_other_counts_takes_every_second_slope_of_twice_as_many() -> None:
    found = alibi_slopes(3)
    np.testing.assert_allclose(found, [1 / 16, 1 / 256, 1 / 4])


def test_sinusoids_start_at_zero_and_one() -> None:
    table = sinusoids(3, 4)
    np.testing.assert_allclose(table[0], [0, 1, 0, 1])
    np.testing.assert_allclose(table[2], [np.sin(2), np.cos(2), np.sin(0.02), np.cos(0.02)], 1e-6)
