"""Word-hops of a leg from where its words start and end, apart from the patterns.

The other side of a law: patterns count words link by link, this counts links word by word.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from engine.geometry import Split
from engine.program import Leg


@lru_cache(maxsize=16384)
def tree_words(leg: Leg) -> tuple[int, int]:
    """Return (least, most) word-hops of a leg from where its words start and end.

    The two differ by the rounding of an exchange's even shares, at most a word a link.
    """
    low = high = 0
    for _, count, words in Split(leg.words, leg.lines).runs():
        exact, slack = _line_hops(leg, words)
        low += count * exact
        high += count * (exact + slack)
    return low, high


def _line_hops(leg: Leg, words: int) -> tuple[int, int]:
    src = np.repeat(np.arange(leg.src) + leg.src_start, Split(words, leg.src).sizes())
    if leg.kind == "reduce" or "broadcast" in leg.kind:
        return _tree_hops(leg, words, src), 0
    dst = np.repeat(np.arange(leg.dst) + leg.dst_start, Split(words, leg.dst).sizes())
    if leg.groups == 0:
        return int(np.abs(src - dst).sum()), 0
    groups = Split(words, min(leg.groups, words))
    exact = 0.0
    for group in range(groups.parts):
        cut = slice(groups.start(group), groups.start(group) + groups.size(group))
        starts, ends = np.sort(src[cut]), np.sort(dst[cut])
        exact += _mean_distance(starts, ends)
    length = max(leg.src_start + leg.src, leg.dst_start + leg.dst) - min(
        leg.src_start, leg.dst_start
    )
    slack = 2 * groups.parts * length
    return int(np.floor(exact)), slack


def _mean_distance(starts: np.ndarray, ends: np.ndarray) -> float:
    """Sum over words of the distance when every start goes to every end in proportion."""
    sums = np.concatenate([[0], np.cumsum(ends)])
    below = np.searchsorted(ends, starts)
    total = starts * below - sums[below] + (sums[-1] - sums[below]) - starts * (len(ends) - below)
    return float(total.sum() / max(1, len(ends)))


def _tree_hops(leg: Leg, words: int, src: np.ndarray) -> int:
    groups = max(1, leg.groups)
    parts, near, far = (Split(n, groups) for n in (words, leg.src, leg.dst))
    hops = 0
    for group in range(groups):
        first_src = leg.src_start + near.start(group)
        first_dst = leg.dst_start + far.start(group)
        if not (near.size(group) and far.size(group) and parts.size(group)):
            continue
        last_src, last_dst = first_src + near.size(group) - 1, first_dst + far.size(group) - 1
        if leg.kind == "reduce":
            keepers = np.arange(far.size(group)) + first_dst
            kept = Split(parts.size(group), far.size(group)).sizes()
            reach = np.maximum(keepers, last_src) - np.minimum(keepers, first_src)
            hops += int((kept * reach).sum())
        else:
            owners = np.arange(near.size(group)) + first_src
            sent = Split(parts.size(group), near.size(group)).sizes()
            reach = np.maximum(owners, last_dst) - np.minimum(owners, first_dst)
            hops += int((sent * reach).sum())
    return hops
