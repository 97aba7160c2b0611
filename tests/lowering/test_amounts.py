"""Bytes in words."""

from __future__ import annotations

import pytest

from lowering.amounts import amount


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (39.73e9, "39.7 GB"), (1.606e13, "16.1 TB")],
)
def test_the_largest_unit_of_which_there_is_one(count: float, said: str) -> None:
    assert amount(count) == said
