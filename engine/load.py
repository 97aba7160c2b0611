"""Loads of overlapping patterns: as maps, and as the vectors that rates must respect.

Knows patterns and planes, no time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from engine.jit import compiling_is_off, register_warm_up
from engine.load_jit import DESK_FULL, DONE, TERMS_FULL, VECTORS_FULL, meet
from engine.load_state import (
    GROUPS,
    Desk,
    Patterns,
    Table,
    alike,
    build_desk,
    build_patterns,
    build_table,
    grow_desk,
    grow_terms,
    grow_vectors,
)
from engine.metrics import RAMP_PLANES
from engine.program import Conflict, ConflictTerm
from engine.timing.state import to_lists
from engine.transfers.legs import Pattern

INTERPRETED_PATTERNS = 4_000
"""below this many patterns of all turns plain Python is done before a first compile would be"""


def add_patterns(plane: np.ndarray, patterns: Iterable[tuple[Pattern, np.ndarray]]) -> None:
    """Add the given words of each pattern to an int32 or int64 (rows, cols) map in place.

    Works on differences across the lines, so a pattern costs its length, not its area; call
    once for a batch, all of one axis (`x` patterns on a map, `y` on its transpose).
    """
    difference = np.zeros((plane.shape[0] + 1, plane.shape[1]), plane.dtype)
    for pattern, words in patterns:
        cut = slice(pattern.start, pattern.start + len(words))
        difference[pattern.lines_start, cut] += words
        difference[pattern.lines_start + pattern.lines, cut] -= words
    np.cumsum(difference[:-1], axis=0, out=difference[:-1])
    plane += difference[:-1]


@dataclass(frozen=True, slots=True, eq=False)
class FlowPattern:
    """A pattern and the flow it belongs to."""

    flow: int
    pattern: Pattern
    weight: float
    """capacity that one word of the pattern takes when the flow runs at its highest rate"""


class Kept(NamedTuple):
    """The vectors that a turn keeps, in order; V of them with T terms together."""

    places: list[tuple[str, int, int]]
    """(V) plane, row and column where each was first met"""
    start: list[int]
    """(V + 1) CSR over vectors of the next two"""
    member: np.ndarray
    """(T,) place of the flow among those of the turn"""
    words: np.ndarray
    """(T,) its words"""


def shared_loads(
    flows: Sequence[FlowPattern],
    names: Sequence[str],
    turns: Sequence[Sequence[int]] | None = None,
    like: Sequence[int] | None = None,
) -> list[Conflict]:
    """Return the undominated load vectors of resources that several flows can fill.

    `names` are those of the flows; `turns` says which of them, rising, can move at once, None:
    all. `like` names for each flow the one whose patterns it has, None: its own. In a turn the
    plane is cut at the ends of all its patterns; inside a cell each pattern counts with its maximum
    there, so rates that respect the vectors respect every link. Vectors whose flows cannot exceed
    the capacity together are left out. What several turns have is returned once, as first found.

    Turns whose flows have the same patterns one by one meet alike, so one of them is looked at:
    flows count by their patterns and their order alone.
    """
    own = np.arange(len(names)) if like is None else np.array(like, np.int64)
    every = [range(len(names))] if turns is None else turns
    wanted = [np.array(turn, np.int64) for turn in every]
    kinds = [own[turn].tobytes() for turn in wanted]
    different = dict(zip(kinds, wanted, strict=True))
    patterns = alike(arrays_of(flows, len(names)), own)
    size = sum(np.diff(patterns.flow_start)[turn].sum() for turn in different.values())
    compiled = meet.ready or meet.cached or size > INTERPRETED_PATTERNS
    met = meet_all(patterns, list(different.values()), compiled and not compiling_is_off())
    kept = dict(zip(different, met, strict=True))
    return named(wanted, [kept[kind] for kind in kinds], names)


def arrays_of(flows: Sequence[FlowPattern], count: int) -> Patterns:
    """Return the patterns of `count` flows as arrays; a flow may have none."""
    ordered = sorted((_along_columns(each) for each in flows), key=lambda each: each.flow)
    return build_patterns([(f.flow, f.pattern, f.weight) for f in ordered], count)


def _along_columns(flow: FlowPattern) -> FlowPattern:
    """Turn a ramp pattern along y into one along x, so that all ramps meet on one axis."""
    pattern = flow.pattern
    if pattern.plane not in RAMP_PLANES or pattern.axis == "x":
        return flow
    words = np.full(pattern.lines, pattern.words.max(), np.int64)
    turned = Pattern(
        pattern.plane, "x", pattern.start, len(pattern.words), pattern.lines_start, words
    )
    return FlowPattern(flow.flow, turned, flow.weight)


def meet_all(patterns: Patterns, turns: Sequence[np.ndarray], compiled: bool) -> list[Kept]:
    """Return the vectors that each turn keeps; `compiled`: by the jit kernel."""
    desk, table = build_desk(patterns), build_table()
    if not compiled:
        patterns, desk, table = to_lists(patterns), to_lists(desk), to_lists(table)
    run = meet if compiled else meet.interpret
    stamp, found = 0, []
    for turn in turns:
        live: Any = turn if compiled else turn.tolist()
        why = -1
        while why != DONE:
            stamp += 1
            why = run(patterns, desk, table, live, stamp)
            desk = grow_desk(desk) if why == DESK_FULL else desk
            table = grow_vectors(table) if why == VECTORS_FULL else table
            table = grow_terms(table) if why == TERMS_FULL else table
        found.append(_kept(desk, table, turn))
    return found


def _kept(desk: Desk, table: Table, turn: np.ndarray) -> Kept:
    """Return what is on the desk after a turn."""
    vectors = [int(vector) for vector in desk.kept[: desk.tally[1]]]
    cuts = [slice(*table.term_start[vector : vector + 2]) for vector in vectors]
    flow, words = (
        np.concatenate([np.zeros(0, np.int64), *(each[cut] for cut in cuts)])
        for each in (table.flow, table.words)
    )
    places = [_place(*map(int, table.place[3 * vector : 3 * vector + 3])) for vector in vectors]
    start = [0, *accumulate(int(cut.stop - cut.start) for cut in cuts)]
    return Kept(places, start, np.searchsorted(turn, flow), words)


def _place(group: int, line: int, position: int) -> tuple[str, int, int]:
    """Return plane, row and column."""
    plane, axis = GROUPS[group]
    return (plane, line, position) if axis == "x" else (plane, position, line)


class _Terms(dict[int, ConflictTerm]):
    """Terms by code, flow x `above` + words, made when first asked for."""

    def __init__(self, names: Sequence[str], above: int) -> None:
        super().__init__()
        self._names = names
        self._above = above

    def __missing__(self, code: int) -> ConflictTerm:
        flow, words = divmod(code, self._above)
        made = self[code] = ConflictTerm(self._names[flow], words)
        return made


def named(
    turns: Sequence[np.ndarray], kept: Sequence[Kept], names: Sequence[str]
) -> list[Conflict]:
    """Return the vectors that turns keep, in order, each once; equal terms are one object."""
    above = max((int(each.words.max(initial=0)) for each in kept), default=0) + 1
    terms = _Terms(names, above)
    found: dict[tuple[int, ...], Conflict] = {}
    for turn, own in zip(turns, kept, strict=True):
        codes = (turn[own.member] * above + own.words).tolist()
        for place, low, high in zip(own.places, own.start, own.start[1:], strict=False):
            vector = tuple(codes[low:high])
            if vector not in found:
                found[vector] = Conflict(*place, tuple(map(terms.__getitem__, vector)))
    return list(found.values())


def _warm_up() -> None:
    """Let two flows meet, compiled."""
    pattern = Pattern("east", "x", 0, 1, 0, np.ones(1, np.int64))
    meet_all(
        build_patterns([(0, pattern, 1.0), (1, pattern, 1.0)], 2), [np.arange(2)], compiled=True
    )


register_warm_up("load", _warm_up)
