"""The arrays on which the load kernels work: patterns, one turn's cells, the vectors met so far.

One-dimensional and int64 (weights float64), so that the same source runs on numpy arrays when
compiled and on lists when interpreted. Knows no rule of sharing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.metrics import PLANES
from engine.timing.state import twice_as_long
from engine.transfers.legs import Pattern

GROUPS = tuple((plane, axis) for plane in sorted(PLANES) for axis in ("x", "y"))
"""(plane, axis) of each group of patterns that can meet, in the order they are looked at"""
BUCKETS = 1 << 16
"""hashes of vectors"""
_ROOM = 1 << 12
"""first room for what grows"""


class Patterns(NamedTuple):
    """All patterns, by flow; P patterns of F flows."""

    flow_start: np.ndarray
    """(F + 1,) CSR over flows of the patterns"""
    flow: np.ndarray
    """(P,) the flow it belongs to"""
    group: np.ndarray
    """(P,) index in GROUPS"""
    line: np.ndarray
    """(P,) first line"""
    end_line: np.ndarray
    """(P,) first line after it"""
    start: np.ndarray
    """(P,) first position"""
    end: np.ndarray
    """(P,) first position after it"""
    words_start: np.ndarray
    """(P,) place of its first word"""
    words: np.ndarray
    """words of all patterns, position by position"""
    weight: np.ndarray
    """(P,) float64, capacity that one word takes at the flow's highest rate"""


class Desk(NamedTuple):
    """Work space of one turn; N positions a side, C members of cells, V vectors of the turn."""

    tally: np.ndarray
    """(2,) vectors of the turn, those of them kept"""
    live: np.ndarray
    """(P,) patterns of the group in work"""
    mark: np.ndarray
    """(N,) 1 where the plane is cut"""
    cell: np.ndarray
    """(N,) cell that holds a position"""
    edge: np.ndarray
    """(N,) first position of each cell"""
    begins: np.ndarray
    """(N,) 1 for lines at which a member of the cell in work begins"""
    member_start: np.ndarray
    """(N,) CSR over cells"""
    member_end: np.ndarray
    """(N,) members of each cell that are written, as places"""
    member: np.ndarray
    """(C,) patterns that cover a cell, rising"""
    most: np.ndarray
    """(C,) their most words there"""
    flow: np.ndarray
    """(F,) flows of the vector being made"""
    words: np.ndarray
    """(F,) their words"""
    found: np.ndarray
    """(V,) vectors of the turn"""
    other: np.ndarray
    """(V,) room for merging"""
    kept: np.ndarray
    """(V,) vectors kept, in order"""
    head: np.ndarray
    """(F,) last entry of a flow's list of kept vectors, -1 for none"""
    listed: np.ndarray
    """(F,) entries of the list"""
    next_entry: np.ndarray
    """(E,) the entry before it, -1 for none"""
    entry: np.ndarray
    """(E,) vector of the entry"""


class Table(NamedTuple):
    """Every different vector of all turns, numbered as met; V vectors."""

    tally: np.ndarray
    """(2,) vectors, terms"""
    bucket: np.ndarray
    """(BUCKETS,) last vector with a hash, -1 for none"""
    same_bucket: np.ndarray
    """(V,) the vector before it with that hash, -1 for none"""
    term_start: np.ndarray
    """(V + 1,) CSR over vectors of the next two"""
    flow: np.ndarray
    """flows, rising"""
    words: np.ndarray
    """their words"""
    turn: np.ndarray
    """(V,) stamp of the turn in which it was met last, 0 before"""
    place: np.ndarray
    """(3 * V,) group, line and position where that turn first met it"""


def build_patterns(flows: Sequence[tuple[int, Pattern, float]], count: int) -> Patterns:
    """Return (flow, pattern, weight) as arrays; flows are 0 .. count - 1, rising."""
    words = [pattern.words for _, pattern, _ in flows]
    sizes = np.array([len(each) for each in words], np.int64)
    rows = [
        (flow, GROUPS.index((p.plane, p.axis)), p.lines_start, p.lines, p.start)
        for flow, p, _ in flows
    ]
    flow, group, line, lines, start = np.array(rows, np.int64).reshape(-1, 5).T.copy()
    return Patterns(
        np.searchsorted(flow, np.arange(count + 1)).astype(np.int64),
        *(flow, group, line, line + lines, start, start + sizes, np.cumsum(sizes) - sizes),
        np.concatenate([*words, np.zeros(0, np.int64)]).astype(np.int64),
        np.array([weight for _, _, weight in flows], np.float64),
    )


def alike(patterns: Patterns, like: np.ndarray) -> Patterns:
    """Return the patterns of flows each of which has those of the flow that `like` names.

    Words are shared.
    """
    counts = np.diff(patterns.flow_start)[like]
    ends = np.cumsum(counts)
    flow = np.repeat(np.arange(len(like)), counts)
    own = np.arange(len(flow)) + (patterns.flow_start[like] - ends + counts)[flow]
    named = patterns._asdict() | {"flow_start": np.concatenate([[0], ends])}
    for name in set(Patterns._fields) - {"flow_start", "words"}:
        named[name] = named[name][own]
    return Patterns(**named | {"flow": flow})


def build_desk(patterns: Patterns) -> Desk:
    """Return the work space for turns of these patterns."""
    flows = len(patterns.flow_start) - 1
    side = int(max(patterns.end.max(initial=0), patterns.end_line.max(initial=0))) + 1
    sizes = dict.fromkeys(Desk._fields, _ROOM)
    sizes |= dict.fromkeys(("mark", "cell", "edge", "begins", "member_start", "member_end"), side)
    sizes |= dict.fromkeys(("flow", "words", "head", "listed"), flows)
    sizes |= {"tally": 2, "live": len(patterns.group)}
    return Desk(**{name: np.zeros(size, np.int64) for name, size in sizes.items()})


def build_table() -> Table:
    """Return the table without any vector."""
    sizes = dict.fromkeys(Table._fields, _ROOM)
    sizes |= {"tally": 2, "term_start": _ROOM + 1, "place": 3 * _ROOM}
    table = Table(**{name: np.zeros(size, np.int64) for name, size in sizes.items()})
    return table._replace(bucket=np.full(BUCKETS, -1, np.int64))


def grow_desk(desk: Desk) -> Desk:
    """Return the desk with twice the room for members, vectors and entries."""
    names = ("member", "most", "found", "other", "kept", "next_entry", "entry")
    return desk._replace(**{name: twice_as_long(getattr(desk, name)) for name in names})


def grow_vectors(table: Table) -> Table:
    """Return the table with twice the room for vectors."""
    names = set(Table._fields) - {"tally", "bucket", "flow", "words"}
    return table._replace(**{name: twice_as_long(getattr(table, name)) for name in names})


def grow_terms(table: Table) -> Table:
    """Return the table with twice the room for terms."""
    return table._replace(flow=twice_as_long(table.flow), words=twice_as_long(table.words))
