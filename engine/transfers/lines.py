"""Words on the links of one line of PEs: the arithmetic that all leg kinds share.

A line is positions 0..n-1. `out[i]` of a forward array is what leaves i towards i + 1, of a
backward array what leaves i towards i - 1. All integers, all exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.geometry import Split


@dataclass(frozen=True, slots=True, eq=False)
class LineFlow:
    """Words on one line, int64 (positions,) each."""

    forward: np.ndarray
    """leaving i towards i + 1"""
    backward: np.ndarray
    """leaving i towards i - 1"""
    inject: np.ndarray
    """entering the router at i from its core"""
    deliver: np.ndarray
    """leaving the router at i to its core"""


@dataclass(frozen=True, slots=True)
class Span:
    """Where a leg's words are on a line, positions from the line's own start."""

    words: int
    """words on the line"""
    length: int
    """positions of the line"""
    src_start: int
    src: int
    dst_start: int
    dst: int
    groups: int
    share: int

    def sources(self) -> np.ndarray:
        """Return the words that start at each position."""
        return _spread(self.words, self.length, self.src_start, self.src)

    def destinations(self) -> np.ndarray:
        """Return the words that end at each position when each ends once."""
        return _spread(self.words, self.length, self.dst_start, self.dst)


def _spread(words: int, length: int, start: int, count: int) -> np.ndarray:
    placed = np.zeros(length, np.int64)
    placed[start : start + count] = Split(words, count).sizes()
    return placed


def crossing(span: Span) -> tuple[np.ndarray, np.ndarray]:
    """Return (forward, backward) words when words keep their order between groups.

    Inside one of `span.groups` groups every source sends its share to every destination in
    proportion; with 0 groups the order is kept word by word, the least traffic there is.
    """
    started, ended = np.cumsum(span.sources()), np.cumsum(span.destinations())
    settled = _settled(started, ended, span)
    backward = np.zeros(span.length, np.int64)
    backward[1:] = (ended - settled)[:-1]
    return started - settled, backward


def _settled(started: np.ndarray, ended: np.ndarray, span: Span) -> np.ndarray:
    """Words that both start and end at or before each position."""
    if span.groups == 0 or span.words == 0:
        return np.asarray(np.minimum(started, ended))
    parts = Split(span.words, min(span.groups, span.words))
    sizes = parts.sizes()[:, None]
    starts = (np.cumsum(parts.sizes()) - parts.sizes())[:, None]
    in_group = np.clip(started[None] - starts, 0, sizes)
    out_group = np.clip(ended[None] - starts, 0, sizes)
    return np.asarray((in_group * out_group // sizes).sum(axis=0))
