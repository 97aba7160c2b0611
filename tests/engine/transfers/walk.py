"""The obvious model of a leg: every word by itself, walked hop by hop along one line."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from engine.geometry import Split
from engine.program import Leg

Loads = dict[tuple[str, int], Fraction]
"""(ahead | back | inject | deliver, position) -> words"""


def add(loads: Loads, plane: str, place: int, words: Fraction) -> None:
    """Put words on one link or ramp."""
    loads[plane, place] = loads.get((plane, place), Fraction(0)) + words


def walk(loads: Loads, start: int, end: int, words: Fraction) -> None:
    """Move words along the line, each link of their way once."""
    while start != end:
        add(loads, "ahead" if end > start else "back", start, words)
        start += 1 if end > start else -1


def owners(words: int, start: int, count: int) -> list[int]:
    """Return the position of each word, in order."""
    split = Split(words, count)
    return [start + split.owner(word) for word in range(words)]


def parted(leg: Leg, words: int) -> Iterator[tuple[range, range, int]]:
    """Yield (sources, destinations, words) of each group of a broadcast or reduction."""
    groups = max(1, leg.groups)
    counts, src, dst = (Split(n, groups) for n in (words, leg.src, leg.dst))
    for g in range(groups):
        first_src, first_dst = leg.src_start + src.start(g), leg.dst_start + dst.start(g)
        sources = range(first_src, first_src + src.size(g))
        yield sources, range(first_dst, first_dst + dst.size(g)), counts.size(g)


def broadcast_loads(leg: Leg, words: int) -> Loads:
    """Copy each word from its source outwards to the ends of its destinations."""
    loads: Loads = {}
    for sources, targets, count in parted(leg, words):
        for word in owners(count, sources[0], len(sources)):
            add(loads, "inject", word, Fraction(1))
            walk(loads, word, max(word, targets[-1]), Fraction(1))
            walk(loads, word, min(word, targets[0]), Fraction(1))
        for place in targets:
            add(loads, "deliver", place, Fraction(-(-count // leg.share)))
    return loads


def reduce_loads(leg: Leg, words: int) -> Loads:
    """Combine each word's partial sums from both ends of its group towards its keeper."""
    loads: Loads = {}
    for sources, targets, count in parted(leg, words):
        for keeper in owners(count, targets[0], len(targets)):
            for end in (sources[0], sources[-1]):
                outside = end < keeper if end == sources[0] else end > keeper
                if outside:
                    walk(loads, end, keeper, Fraction(1))
                    for place in range(min(end, keeper), max(end, keeper) + 1):
                        add(loads, "inject", place, Fraction(place != keeper))
                        add(loads, "deliver", place, Fraction(place != end))
    return {key: words for key, words in loads.items() if words}


def exchange_loads(leg: Leg, words: int) -> Loads:
    """Send each word to its own destination, or in shares to all of its group."""
    loads: Loads = {}
    sources, targets = owners(words, leg.src_start, leg.src), owners(words, leg.dst_start, leg.dst)
    for start, end in zip(sources, targets, strict=True):
        add(loads, "inject", start, Fraction(1))
        add(loads, "deliver", end, Fraction(1))
        if leg.groups == 0:
            walk(loads, start, end, Fraction(1))
    parts = Split(words, max(1, min(leg.groups, words)))
    for g in range(parts.parts if leg.groups else 0):
        inside = slice(parts.start(g), parts.start(g) + parts.size(g))
        for start in sources[inside]:
            for end in targets[inside]:
                walk(loads, start, end, Fraction(1, parts.size(g)))
    return loads


def longest_way(leg: Leg, words: int) -> int:
    """Return the links of the longest way any word takes."""
    sources, targets = owners(words, leg.src_start, leg.src), owners(words, leg.dst_start, leg.dst)
    if leg.groups == 0:
        return max((abs(a - b) for a, b in zip(sources, targets, strict=True)), default=0)
    parts = Split(words, max(1, min(leg.groups, words)))
    cuts = [slice(parts.start(g), parts.start(g) + parts.size(g)) for g in range(parts.parts)]
    return max((abs(a - b) for cut in cuts for a in sources[cut] for b in targets[cut]), default=0)
