"""Load vectors in plain Python: what the load kernels are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.load import FlowPattern
from engine.program import Conflict, ConflictTerm
from engine.transfers.legs import Pattern


@dataclass(frozen=True, slots=True)
class LoadVector:
    """Words that each flow puts on one resource."""

    plane: str
    row: int
    col: int
    terms: tuple[tuple[int, int], ...]
    """(flow, words), flows ascending"""


def plain_loads(flows: Sequence[FlowPattern], names: Sequence[str]) -> list[Conflict]:
    """Return the load vectors of one turn, cell by cell and set by set."""
    found: list[LoadVector] = []
    for plane in sorted({f.pattern.plane for f in flows}):
        mine = [_along_columns(f) for f in flows if f.pattern.plane == plane]
        for axis in ("x", "y"):
            group = [f for f in mine if f.pattern.axis == axis]
            found += _plane_vectors(plane, axis, group)
    return [
        Conflict(v.plane, v.row, v.col, tuple(ConflictTerm(names[f], w) for f, w in v.terms))
        for v in _undominated(found)
    ]


def _along_columns(flow: FlowPattern) -> FlowPattern:
    """Turn a ramp pattern along y into one along x, so that all ramps meet on one axis."""
    pattern = flow.pattern
    if pattern.plane not in ("inject", "deliver") or pattern.axis == "x":
        return flow
    words = np.full(pattern.lines, pattern.words.max(), np.int64)
    turned = Pattern(
        pattern.plane, "x", pattern.start, len(pattern.words), pattern.lines_start, words
    )
    return FlowPattern(flow.flow, turned, flow.weight)


def _plane_vectors(plane: str, axis: str, flows: Sequence[FlowPattern]) -> list[LoadVector]:
    if len({f.flow for f in flows}) < 2:
        return []
    edges = np.unique([e for f in flows for e in _ends(f.pattern)])
    peaks = [_peaks(f.pattern, edges) for f in flows]
    cells: list[list[int]] = [[] for _ in range(len(edges))]
    for index, (first, maxima) in enumerate(peaks):
        for cell in range(first, first + len(maxima)):
            cells[cell].append(index)
    found: dict[tuple[tuple[int, int], ...], LoadVector] = {}
    for cell, members in enumerate(cells):
        if len(members) < 2:
            continue
        for line, clique in _cliques(flows, members):
            terms, load = _terms(flows, peaks, clique, cell)
            if len(terms) > 1 and load > 1 and terms not in found:
                place = int(edges[cell])
                row, col = (line, place) if axis == "x" else (place, line)
                found[terms] = LoadVector(plane, row, col, terms)
    return list(found.values())


def _ends(pattern: Pattern) -> tuple[int, int]:
    return pattern.start, pattern.start + len(pattern.words)


def _peaks(pattern: Pattern, edges: np.ndarray) -> tuple[int, np.ndarray]:
    """Return (first cell, maximum in each cell that the pattern covers)."""
    start, end = _ends(pattern)
    first, last = np.searchsorted(edges, (start, end))
    return int(first), np.maximum.reduceat(pattern.words, edges[first:last] - start)


def _cliques(flows: Sequence[FlowPattern], members: list[int]) -> list[tuple[int, list[int]]]:
    """Return (line, patterns there) for every line at which a pattern begins."""
    begins: dict[int, list[tuple[int, int]]] = {}
    for index in members:
        pattern = flows[index].pattern
        end = pattern.lines_start + pattern.lines
        begins.setdefault(pattern.lines_start, []).append((index, end))
    found = []
    here: list[tuple[int, int]] = []
    for line in sorted(begins):
        here = sorted([each for each in here if each[1] > line] + begins[line])
        if len(here) > 1:
            found.append((line, [index for index, _ in here]))
    return found


def _terms(
    flows: Sequence[FlowPattern],
    peaks: Sequence[tuple[int, np.ndarray]],
    clique: list[int],
    cell: int,
) -> tuple[tuple[tuple[int, int], ...], float]:
    words: dict[int, int] = {}
    load = 0.0
    for index in clique:
        first, maxima = peaks[index]
        here = int(maxima[cell - first])
        if here:
            words[flows[index].flow] = words.get(flows[index].flow, 0) + here
            load += here * flows[index].weight
    return tuple(sorted(words.items())), load


def _undominated(vectors: list[LoadVector]) -> list[LoadVector]:
    """Drop vectors that another one covers term by term."""
    ordered = sorted(vectors, key=lambda v: (-len(v.terms), [-w for _, w in v.terms], v.terms))
    kept: list[LoadVector] = []
    by_flow: dict[int, list[dict[int, int]]] = {}
    for vector in ordered:
        rivals = min((by_flow.get(flow, []) for flow, _ in vector.terms), key=len)
        if any(all(rival.get(f, 0) >= w for f, w in vector.terms) for rival in rivals):
            continue
        kept.append(vector)
        terms = dict(vector.terms)
        for flow in terms:
            by_flow.setdefault(flow, []).append(terms)
    return kept
