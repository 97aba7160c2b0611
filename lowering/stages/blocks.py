"""Repeated blocks: runs of equal kernels, such as the layers of a transformer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np


def find_blocks(keys: Sequence[Hashable]) -> tuple[tuple[int, int, int], ...]:
    """Return disjoint (first, kernels a block, blocks) of consecutive equal blocks, in order.

    `keys` are equal where kernels are. Of all repetitions the one that covers most kernels is
    taken first (the shortest block of ties), then the same on both sides of it.
    """
    best = _longest_repetition(keys)
    if best is None:
        return ()
    first, period, count = best
    end = first + period * count
    after = tuple((end + start, length, times) for start, length, times in find_blocks(keys[end:]))
    return (*find_blocks(keys[:first]), best, *after)


def _longest_repetition(keys: Sequence[Hashable]) -> tuple[int, int, int] | None:
    """Return the repetition that covers most keys, the shortest and then the first of ties."""
    known: dict[Hashable, int] = {}
    ids = np.array([known.setdefault(key, len(known)) for key in keys], np.int64)
    best: tuple[int, int, int] | None = None
    covered = 1
    for period in range(1, len(keys) // 2 + 1):
        same = np.concatenate([[False], ids[:-period] == ids[period:], [False]])
        edges = np.flatnonzero(same[1:] != same[:-1])
        first, runs = edges[::2], edges[1::2] - edges[::2]
        counts = runs // period + 1
        if not len(counts):
            continue
        place = int(counts.argmax())
        count = int(counts[place])
        if count > 1 and period * count > covered:
            covered = period * count
            best = (int(first[place]), period, count)
    return best
