"""Every word reaches every destination of its line; routers copy, links carry it once."""

from __future__ import annotations

import numpy as np

from engine.geometry import Split
from engine.transfers.lines import LineFlow, Span


def flow(span: Span) -> LineFlow:
    """Return the words on the line; sources and destinations are split into equal groups."""
    groups = max(1, span.groups)
    totals = [np.zeros(span.length, np.int64) for _ in range(4)]
    words, src, dst = (Split(n, groups) for n in (span.words, span.src, span.dst))
    for group in range(groups):
        part = _copies(
            span.length,
            words.size(group),
            (span.src_start + src.start(group), src.size(group)),
            (span.dst_start + dst.start(group), dst.size(group)),
            span.share,
        )
        for total, added in zip(totals, part, strict=True):
            total += added
    return LineFlow(*totals)


def _copies(
    length: int, words: int, src: tuple[int, int], dst: tuple[int, int], share: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    sources = np.zeros(length, np.int64)
    deliver = np.zeros(length, np.int64)
    backward = np.zeros(length, np.int64)
    if not (words and src[1] and dst[1]):
        return sources, backward, sources.copy(), deliver
    sources[src[0] : src[0] + src[1]] = Split(words, src[1]).sizes()
    started = np.cumsum(sources)
    place = np.arange(length)
    last = dst[0] + dst[1] - 1
    forward = np.where(place < last, started, 0)
    backward[1:] = np.where(place[1:] > dst[0], words - started[:-1], 0)
    deliver[dst[0] : last + 1] = -(-words // share)
    return forward, backward, sources, deliver


def hops(span: Span) -> int:
    """Return the links of the longest way a word takes."""
    last_src, last_dst = span.src_start + span.src - 1, span.dst_start + span.dst - 1
    return max(abs(last_dst - span.src_start), abs(last_src - span.dst_start))
