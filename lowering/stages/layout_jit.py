"""Best fit of buffers in the order given. Knows arrays, or lists, and scalars only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.jit import lean_kernel


class Sizes(NamedTuple):
    """Buffers, int64 (N,) each."""

    size: np.ndarray
    """bytes; an empty buffer meets none"""
    first: np.ndarray
    """first operation that needs it"""
    last: np.ndarray
    """last operation that needs it, included"""
    align: np.ndarray
    """its offset is a multiple of this many bytes"""


@lean_kernel
def place_in_order(
    sizes: Sizes, order: np.ndarray, offsets: np.ndarray, stack: np.ndarray, most: int
) -> int:
    """Place the buffers of `order` one after the other, each in the tightest gap that holds it.

    `offsets` is written; -1 there stands for not yet placed. `stack` is room for all buffers.
    Returns the highest end of the buffers placed, -1 as soon as one ends beyond `most`.
    """
    peak, height = 0, 0
    for buffer in range(len(offsets)):
        if offsets[buffer] >= 0:
            _push(offsets, stack, height, buffer)
            height += 1
    for buffer in order:
        offset = _best_gap(sizes, offsets, stack, height, buffer)
        if offset + sizes.size[buffer] > most:
            return -1
        offsets[buffer] = offset
        peak = max(peak, offset + sizes.size[buffer])
        _push(offsets, stack, height, buffer)
        height += 1
    return peak


@lean_kernel
def _push(offsets: np.ndarray, stack: np.ndarray, height: int, buffer: int) -> None:
    """Add a buffer to a stack of `height` buffers, rising by offset."""
    place = height
    while place > 0 and offsets[stack[place - 1]] > offsets[buffer]:
        stack[place] = stack[place - 1]
        place -= 1
    stack[place] = buffer


@lean_kernel
def _best_gap(
    sizes: Sizes, offsets: np.ndarray, stack: np.ndarray, height: int, buffer: int
) -> int:
    """Return the offset of the smallest gap that holds a buffer between those that it meets."""
    size, align = sizes.size[buffer], sizes.align[buffer]
    first, last = sizes.first[buffer], sizes.last[buffer]
    best, least, end = -1, 0, 0
    if size == 0:
        return 0
    for place in range(height):
        other = stack[place]
        if sizes.first[other] > last or sizes.last[other] < first or sizes.size[other] == 0:
            continue
        start = offsets[other]
        if start - end >= size:
            offset = -(-end // align) * align
            gap = start - offset
            if gap >= size and (best < 0 or gap < least):
                best, least = offset, gap
        end = max(end, start + sizes.size[other])
    return best if best >= 0 else -(-end // align) * align
