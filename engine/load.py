"""Loads of overlapping patterns: as maps, and as the vectors that rates must respect.

Knows patterns and planes, no time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.jit import compiling_is_off, register_warm_up
from engine.load_jit import DESK_FULL, DONE, TERMS_FULL, VECTORS_FULL, meet
from engine.load_state import (
    GROUPS,
    Patterns,
    Table,
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


def shared_loads(
    flows: Sequence[FlowPattern], names: Sequence[str], turns: Sequence[Sequence[int]] | None = None
) -> list[Conflict]:
    """Return the undominated load vectors of resources that several flows can fill.

    `names` are those of the flows; `turns` says which of them, rising, can move at once, None:
    all. In a turn the plane is cut at the ends of all its patterns; inside a cell each pattern
    counts with its maximum there, so rates that respect the vectors respect every link. Vectors
    whose flows cannot exceed the capacity together are left out. What several turns have is
    returned once, as first found.
    """
    patterns = arrays_of(flows, len(names))
    wanted = [range(len(patterns.flow_start) - 1)] if turns is None else turns
    size = sum(np.diff(patterns.flow_start)[list(turn)].sum() for turn in wanted)
    compiled = meet.ready or meet.cached or size > INTERPRETED_PATTERNS
    return named(meet_all(patterns, wanted, compiled and not compiling_is_off()), names)


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


def meet_all(patterns: Patterns, turns: Sequence[Sequence[int]], compiled: bool) -> Table:
    """Return the table of the vectors kept in all turns; `compiled`: by the jit kernel."""
    desk, table = build_desk(patterns), build_table()
    if not compiled:
        patterns, desk, table = to_lists(patterns), to_lists(desk), to_lists(table)
    run = meet if compiled else meet.interpret
    stamp = 0
    for turn in turns:
        live: Any = np.array(turn, np.int64) if compiled else list(turn)
        why = -1
        while why != DONE:
            stamp += 1
            why = run(patterns, desk, table, live, stamp)
            desk = grow_desk(desk) if why == DESK_FULL else desk
            table = grow_vectors(table) if why == VECTORS_FULL else table
            table = grow_terms(table) if why == TERMS_FULL else table
    return table


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


def named(table: Table, names: Sequence[str]) -> list[Conflict]:
    """Return the vectors kept, in order; equal terms are one object."""
    vectors, count, kept = (int(each) for each in table.tally)
    flow, words = (np.asarray(each[:count], np.int64) for each in (table.flow, table.words))
    above = int(words.max(initial=0)) + 1
    terms, codes = _Terms(names, above), flow * above + words
    starts, places = (
        np.asarray(each[:size], np.int64)
        for each, size in ((table.term_start, vectors + 1), (table.place, 3 * vectors))
    )
    found = []
    for vector in table.kept[:kept]:
        group, line, position = places[3 * vector : 3 * vector + 3].tolist()
        plane, axis = GROUPS[group]
        row, col = (line, position) if axis == "x" else (position, line)
        mine = codes[starts[vector] : starts[vector + 1]].tolist()
        found.append(Conflict(plane, row, col, tuple(map(terms.__getitem__, mine))))
    return found


def _warm_up() -> None:
    """Let two flows meet, compiled."""
    pattern = Pattern("east", "x", 0, 1, 0, np.ones(1, np.int64))
    meet_all(build_patterns([(0, pattern, 1.0), (1, pattern, 1.0)], 2), [range(2)], compiled=True)


register_warm_up("load", _warm_up)
