"""Partial sums of every source are combined on the way to the PE that keeps the sum.

In each of the leg's groups the chain runs from both ends towards the keeper, so a link carries
each word at most once. Every PE takes partial sums from its neighbours and sends its own on.
"""

from __future__ import annotations

import numpy as np

from engine.geometry import Split
from engine.transfers.lines import LineFlow, Span


def flow(span: Span) -> LineFlow:
    """Return the words on the line; sources and destinations are split into equal groups."""
    groups = max(1, span.groups)
    forward = np.zeros(span.length, np.int64)
    backward = np.zeros(span.length, np.int64)
    words, src, dst = (Split(n, groups) for n in (span.words, span.src, span.dst))
    for group in range(groups):
        _chain(
            forward,
            backward,
            words.size(group),
            (span.src_start + src.start(group), src.size(group)),
            (span.dst_start + dst.start(group), dst.size(group)),
        )
    arriving = np.zeros(span.length, np.int64)
    arriving[1:] += forward[:-1]
    arriving[:-1] += backward[1:]
    return LineFlow(forward, backward, forward + backward, arriving)


def _chain(
    forward: np.ndarray,
    backward: np.ndarray,
    words: int,
    src: tuple[int, int],
    dst: tuple[int, int],
) -> None:
    if not (words and src[1] and dst[1]):
        return
    first, last = min(src[0], dst[0]), max(src[0] + src[1], dst[0] + dst[1]) - 1
    kept = np.zeros(last - first + 1, np.int64)
    kept[dst[0] - first : dst[0] - first + dst[1]] = Split(words, dst[1]).sizes()
    below = np.cumsum(kept)
    place = np.arange(first, last + 1)
    forward[first : last + 1] += np.where(place >= src[0], words - below, 0)
    backward[first + 1 : last + 1] += np.where(place[1:] <= src[0] + src[1] - 1, below[:-1], 0)


def hops(span: Span) -> int:
    """Return the links of the longest chain."""
    return -(-max(span.src, span.dst) // max(1, span.groups)) - 1
