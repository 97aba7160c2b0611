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
    if leg.kind == "reduce" or "broadcast" in leg.kind:
        return _tree_hops(leg, words), 0
    if leg.groups == 0:
        return _ordered_hops(leg, words), 0
    groups = Split(words, min(leg.groups, words))
    exact = 0.0
    for group in range(groups.parts):
        cut = (groups.start(group), groups.start(group) + groups.size(group))
        exact += _mean_distance(
            _inside(leg.src_start, words, leg.src, cut), _inside(leg.dst_start, words, leg.dst, cut)
        )
    length = max(leg.src_start + leg.src, leg.dst_start + leg.dst) - min(
        leg.src_start, leg.dst_start
    )
    slack = 2 * groups.parts * length
    return int(np.floor(exact)), slack


def _ordered_hops(leg: Leg, words: int) -> int:
    """Links of all words when each goes from its place in the order to the same place there."""
    src_ends, dst_ends = (np.cumsum(Split(words, parts).sizes()) for parts in (leg.src, leg.dst))
    ends = np.unique(np.concatenate([src_ends, dst_ends]))
    owner = [np.searchsorted(each, ends) for each in (src_ends, dst_ends)]
    apart = np.abs(owner[0] + leg.src_start - owner[1] - leg.dst_start)
    return int((np.diff(ends, prepend=0) * apart).sum())


def _inside(
    start: int, words: int, parts: int, cut: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (positions, words at each) of the words of a cut, for words spread over parts."""
    ends = np.cumsum(Split(words, parts).sizes())
    held = np.diff(np.clip(ends, *cut), prepend=cut[0])
    used = np.flatnonzero(held)
    return used + start, held[used]


def _mean_distance(
    starts: tuple[np.ndarray, np.ndarray], ends: tuple[np.ndarray, np.ndarray]
) -> float:
    """Sum over words of the distance when every start goes to every end in proportion."""
    places, held = ends
    counts, sums = (np.concatenate([[0], np.cumsum(each)]) for each in (held, held * places))
    below = np.searchsorted(places, starts[0])
    apart = starts[0] * (2 * counts[below] - counts[-1]) + sums[-1] - 2 * sums[below]
    total = sum(words * far for words, far in zip(starts[1].tolist(), apart.tolist(), strict=True))
    return float(total / max(1, int(counts[-1])))


def _tree_hops(leg: Leg, words: int) -> int:
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
