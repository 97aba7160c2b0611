"""Rounding by hand: halves to even, the end of the range, what is no number."""

from __future__ import annotations

import numpy as np
import pytest

from engine.dtypes import DTYPES, rounded


def test_table_gives_bits_and_bytes() -> None:
    assert {name: (each.bits, each.bytes) for name, each in DTYPES.items()} == {
        "fp32": (32, 4), "fp16": (16, 2), "bf16": (16, 2),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "given", "wanted"),
    [
        ("fp32", 1 + 2.0**-23, 1 + 2.0**-23),
        ("fp16", 1 + 2.0**-11, 1.0),  # half way: down to the even fraction
        ("fp16", 1 + 3 * 2.0**-11, 1 + 2 * 2.0**-10),  # half way: up to the even fraction
        ("fp16", 70_000.0, np.inf),
        ("bf16", 1 + 2.0**-8, 1.0),
        ("bf16", 1 + 3 * 2.0**-8, 1 + 2 * 2.0**-7),
        ("bf16", 1 + 2.0**-8 + 2.0**-20, 1 + 2.0**-7),
        ("bf16", 70_000.0, 70_144.0),
        ("bf16", -3.0, -3.0),
        ("bf16", 3.4e38, np.inf),
        ("bf16", -np.inf, -np.inf),
    ],
)
def test_one_number(dtype: str, given: float, wanted: float) -> None:
    found = rounded(np.array([given], np.float32), dtype)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array([wanted], np.float32))


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_no_number_stays_none_and_shapes_stay(dtype: str) -> None:
    assert np.isnan(rounded(np.array(np.nan, np.float32), dtype))
    assert rounded(np.zeros((2, 0, 3), np.float32), dtype).shape == (2, 0, 3)
    assert rounded(np.array(1.5, np.float32), dtype).shape == ()


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_error_of_one_rounding_stays_within_its_spread(dtype: str) -> None:
    numbers = np.random.default_rng(0).uniform(0.5, 2.0, 4096).astype(np.float32)
    off = np.abs(rounded(numbers, dtype) - numbers) / numbers
    assert off.max() <= DTYPES[dtype].spread
    assert dtype == "fp32" or off.max() > DTYPES[dtype].spread / 2


def test_integers_and_wide_floats_keep_their_bits() -> None:
    wide = np.array([1 + 2.0**-40])
    assert rounded(wide, "bf16") is wide
    assert rounded(np.array([65_537]), "fp16")[0] == 65_537
