"""Repeated blocks: runs of equal kernels, such as the layers of a transformer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


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
    best: tuple[int, int, int] | None = None
    covered = 1
    for period in range(1, len(keys) // 2 + 1):
        run = 0
        for index in range(len(keys) - period):
            run = run + 1 if keys[index] == keys[index + period] else 0
            count = run // period + 1
            if run % period == 0 and count > 1 and period * count > covered:
                covered = period * count
                best = (index - run + 1, period, count)
    return best
