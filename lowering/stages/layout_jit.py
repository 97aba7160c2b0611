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


class Windows(NamedTuple):
    """Buffers that have a place, rising by offset: for each window of operations those alive in it.

    Where there are several windows, all buffers come as one more: for those that outlive a window.
    """

    width: int
    """operations a window"""
    start: np.ndarray
    """(W + 1,) CSR over windows of `placed`: the room of each"""
    height: np.ndarray
    """(W,) buffers in each"""
    placed: np.ndarray
    """buffers"""


def build_windows(sizes: Sizes, width: int) -> Windows:
    """Return room for the buffers in windows of `width` operations from operation 0 on."""
    first, last = sizes.first // width, sizes.last // width
    count = int(last.max()) + 1
    change = np.bincount(first, minlength=count + 1) - np.bincount(last + 1, minlength=count + 1)
    rooms = [*np.cumsum(change[:count]).tolist(), *([len(first)] if count > 1 else [])]
    start = np.cumsum([0, *rooms], dtype=np.int64)
    return Windows(width, start, np.zeros(len(rooms), np.int64), np.zeros(start[-1], np.int64))


@lean_kernel
def place_in_order(
    sizes: Sizes, order: np.ndarray, offsets: np.ndarray, windows: Windows, most: int
) -> int:
    """Place the buffers of `order` one after the other, each in the tightest gap that holds it.

    `offsets` is written; -1 there stands for not yet placed. `windows` is room.
    Returns the highest end of the buffers placed, -1 as soon as one ends beyond `most`.
    """
    peak = 0
    for window in range(len(windows.height)):
        windows.height[window] = 0
    for buffer in range(len(offsets)):
        if offsets[buffer] >= 0:
            _enter(sizes, offsets, windows, buffer)
    for buffer in order:
        offset = _best_gap(sizes, offsets, windows, buffer)
        if offset + sizes.size[buffer] > most:
            return -1
        offsets[buffer] = offset
        peak = max(peak, offset + sizes.size[buffer])
        _enter(sizes, offsets, windows, buffer)
    return peak


@lean_kernel
def _enter(sizes: Sizes, offsets: np.ndarray, windows: Windows, buffer: int) -> None:
    """Enter a buffer with a place in the windows it lives in, and among all."""
    if sizes.size[buffer] == 0:
        return
    first, last = sizes.first[buffer] // windows.width, sizes.last[buffer] // windows.width
    every = len(windows.height) - 1
    for window in range(first, last + 1):
        _insert(offsets, windows, window, buffer)
    if every > last:
        _insert(offsets, windows, every, buffer)


@lean_kernel
def _insert(offsets: np.ndarray, windows: Windows, window: int, buffer: int) -> None:
    """Insert a buffer after those of a window that start no higher."""
    start = windows.start[window]
    end = start + windows.height[window]
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if offsets[windows.placed[middle]] > offsets[buffer]:
            high = middle
        else:
            low = middle + 1
    for place in range(end, low, -1):
        windows.placed[place] = windows.placed[place - 1]
    windows.placed[low] = buffer
    windows.height[window] += 1


@lean_kernel
def _best_gap(sizes: Sizes, offsets: np.ndarray, windows: Windows, buffer: int) -> int:
    """Return the offset of the smallest gap that holds a buffer between those that it meets."""
    size, align = sizes.size[buffer], sizes.align[buffer]
    first, last = sizes.first[buffer], sizes.last[buffer]
    best, least, end = -1, 0, 0
    if size == 0:
        return 0
    window = first // windows.width
    if last // windows.width > window:
        window = len(windows.height) - 1
    low = windows.start[window]
    for place in range(low, low + windows.height[window]):
        other = windows.placed[place]
        if sizes.first[other] > last or sizes.last[other] < first:
            continue
        start = offsets[other]
        if start - end >= size:
            offset = -(-end // align) * align
            gap = start - offset
            if gap >= size and (best < 0 or gap < least):
                best, least = offset, gap
        end = max(end, start + sizes.size[other])
    return best if best >= 0 else -(-end // align) * align
