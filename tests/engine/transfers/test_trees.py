"""Trees: word-hops by hand, and equal to the patterns' words on random legs."""

from __future__ import annotations

import numpy as np
import pytest

from engine.program import Leg
from engine.transfers import leg_patterns
from engine.transfers.trees import tree_words


def test_word_hops_of_a_short_line() -> None:
    assert tree_words(Leg("shift", "x", 0, 2, 0, 2, 2, 2, 8, groups=0)) == (16, 16)
    assert tree_words(Leg("broadcast", "x", 0, 1, 1, 1, 0, 4, 5)) == (15, 15)
    assert tree_words(Leg("reduce", "y", 0, 1, 0, 3, 0, 3, 6)) == (12, 12)
    low, high = tree_words(Leg("exchange", "x", 0, 1, 0, 2, 0, 2, 8))
    assert low == 4
    assert high > low


@pytest.mark.parametrize("kind", ["shift", "exchange", "broadcast", "reduce", "host"])
def test_trees_are_counted_without_the_patterns(kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        src, dst, words = (int(n) for n in rng.integers(1, 7, 3))
        src_start, dst_start, lines = (int(n) for n in rng.integers(1, 6, 3))
        groups = int(rng.integers(kind in ("broadcast", "reduce"), min(src, dst) + 1))
        if kind == "reduce":
            dst, dst_start = src, src_start
        leg = Leg(kind, "y", 0, lines, src_start, src, dst_start, dst, 9 * words, groups)
        carried = sum(p.total() for p in leg_patterns(leg, inject=False, deliver=False))
        low, high = tree_words(leg)
        assert low <= carried <= high, leg
        if kind in ("broadcast", "reduce") or groups == 0:
            assert low == high
