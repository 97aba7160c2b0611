"""Repeated blocks, against every repetition tried one by one."""

from __future__ import annotations

import numpy as np
import pytest

from lowering.stages.blocks import find_blocks


def plain(keys: list[int]) -> tuple[int, int, int] | None:
    """Return the first of the shortest of the repetitions that cover most keys."""
    found = []
    for period in range(1, len(keys) // 2 + 1):
        for first in range(len(keys) - 2 * period + 1):
            count = 1
            while keys[first : first + period] == keys[first + count * period :][:period]:
                count += 1
            if count > 1:
                found.append((-period * count, period, first, count))
    if not found:
        return None
    _, period, first, count = min(found)
    return first, period, count


@pytest.mark.parametrize("seed", range(40))
def test_the_longest_repetition_is_found_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    block = rng.integers(0, 3, rng.integers(1, 6)).tolist()
    keys = [
        *rng.integers(0, 3, rng.integers(0, 9)).tolist(), *block * int(rng.integers(0, 5)),
        *rng.integers(0, 3, rng.integers(0, 9)).tolist(),
    ]  # fmt: skip
    found, best = find_blocks(keys), plain(keys)
    assert (best in found) if best else not found
    for first, period, count in found:
        for turn in range(count):
            start = first + turn * period
            assert keys[start : start + period] == keys[first : first + period]
    ends = [0, *(first + period * count for first, period, count in found)]
    assert all(end <= first for end, (first, _, _) in zip(ends, found, strict=False))


def test_layers_between_other_kernels() -> None:
    assert find_blocks("xabcabcabcyzz") == ((1, 3, 3), (11, 1, 2))
    assert find_blocks("abc") == ()
