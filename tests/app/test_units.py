"""Numbers as people read them."""

from __future__ import annotations

import pytest

from app.units import amount, count, percent, rate, seconds, size


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (0.5, "fraction", "50.0 %"),
        (0.0004, "fraction", "0.04 %"),
        (0.0, "fraction", "0.0 %"),
        (1000, "bytes", "1000 B"),
        (49_152, "bytes", "48.0 KB"),
        (1, "words", "1 wavelet"),
        (12_345, "words", "12,345 wavelets"),
    ],
)
def test_metric_values_have_their_unit(value: float, kind: str, text: str) -> None:
    assert amount(value, kind) == text


def test_counts_and_times() -> None:
    assert (count(1234567.0), count(0.125)) == ("1,234,567", "0.12")
    assert percent(1) == "100.0 %"
    assert size(1536) == "1.5 KB"
    assert size(9 << 30) == "9,216.0 MB"
    assert size(10 << 30) == "10.0 GB"
    assert size(3 << 43) == "24.0 TB"
    assert seconds(850, 0.85e9) == "1 µs at 0.85 GHz"
    assert seconds(0, 0.85e9) == "0 ns at 0.85 GHz"


def test_rate_keeps_two_digits() -> None:
    assert [rate(load) for load in (0, 0.42, 1.0, 0.0123)] == ["0.00", "0.42", "1.00", "0.012"]
