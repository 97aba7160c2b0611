"""Every word goes from one PE to one other PE of its line: shift, spread, collect, exchange.

The four differ in what they mean to a reader: a shift keeps each word's place in an equal
span, a spread starts at one PE, a collect ends at one, an exchange mixes inside its groups.
"""

from __future__ import annotations

import numpy as np

from engine.geometry import Split
from engine.transfers.lines import LineFlow, Span, crossing


def flow(span: Span) -> LineFlow:
    """Return the words on the line."""
    forward, backward = crossing(span)
    return LineFlow(forward, backward, span.sources(), span.destinations())


def hops(span: Span) -> int:
    """Return the links of the longest way a word takes."""
    first_src, last_src = span.src_start, span.src_start + span.src - 1
    first_dst, last_dst = span.dst_start, span.dst_start + span.dst - 1
    if span.groups == 1:
        return max(abs(last_dst - first_src), abs(last_src - first_dst))
    ends = max(abs(first_dst - first_src), abs(last_dst - last_src))
    if span.groups == 0:
        return ends
    return _grouped_hops(span) if span.words else 0


def _grouped_hops(span: Span) -> int:
    """Return the links from any source of a group to any destination of it, over all groups."""
    sizes = Split(span.words, min(span.groups, span.words)).sizes()
    last = np.cumsum(sizes) - 1
    first = last - sizes + 1
    src, dst = (np.cumsum(Split(span.words, n).sizes()) for n in (span.src, span.dst))
    ahead = _owner(dst, last) - _owner(src, first)
    back = _owner(src, last) - _owner(dst, first)
    apart = span.dst_start - span.src_start
    return int(max((ahead + apart).max(), (back - apart).max()))


def _owner(ends: np.ndarray, words: np.ndarray) -> np.ndarray:
    return np.asarray(np.searchsorted(ends, words, side="right"))
