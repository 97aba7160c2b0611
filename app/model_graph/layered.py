"""A layered layout of a graph: sources on top, arrows down, few crossings. Knows no model.

The textbook steps: longest-path layers, a stand-in on each layer that a long edge crosses, a few
sweeps that order each layer by the mean place of its neighbours, then each layer set as near as it
can be below those it comes from. Same input, same picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 4
_GAP = 12
"""pixels between boxes of a layer"""
_LANE = 8
"""pixels that a passing edge takes"""
LAYER_HEIGHT = 58
"""pixels from layer to layer"""
BOX_HEIGHT = 34
_MOST_STAND_INS = 3000

Near = dict[int, list[int]]
"""member of a layer -> its neighbours on the next"""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is, in pixels."""

    places: tuple[tuple[float, float], ...]
    """(left, top) of each box"""
    layers: tuple[int, ...]
    """layer of each box, 0 on top"""
    ways: tuple[tuple[tuple[float, float], ...], ...]
    """points of each edge, from the bottom of one box to the top of the other"""
    width: float
    height: float


def lay_out(widths: Sequence[int], edges: Sequence[tuple[int, int]]) -> Layout:
    """Return the layout of boxes 0..n-1 in an order that computes; edges may also lead back.

    An edge that leads back (to an earlier box, or to itself) does not decide layers.
    """
    layers = _layers(len(widths), edges)
    rows, chains = _with_stand_ins(layers, edges)
    sizes = [*widths, *([_LANE] * (sum(map(len, rows)) - len(widths)))]
    above, below = _neighbours(chains)
    _order(rows, above, below)
    left, width = _across(rows, sizes, above)
    tops = [layer * LAYER_HEIGHT + 4.0 for layer in layers]
    middle = [x + size / 2 for x, size in zip(left, sizes, strict=True)]
    ways = tuple(_way(chain, middle, layers, edge)
                 for edge, chain in zip(edges, chains, strict=True))  # fmt: skip
    places = tuple((left[box], tops[box]) for box in range(len(widths)))
    height = len(rows) * LAYER_HEIGHT - (LAYER_HEIGHT - BOX_HEIGHT) + 8.0 if rows else 0.0
    return Layout(places, tuple(layers), ways, width, height)


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    layers = [0] * count
    before: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        if source < target:
            before[target].append(source)
    for box in range(count):
        layers[box] = max((layers[source] + 1 for source in before[box]), default=0)
    return layers


def _with_stand_ins(
    layers: list[int], edges: Sequence[tuple[int, int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the members of each layer and each edge's chain of members, both ends included."""
    rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for box, layer in enumerate(layers):
        rows[layer].append(box)
    spans = sum(max(0, layers[b] - layers[a] - 1) for a, b in edges)
    is_direct = spans > _MOST_STAND_INS
    chains, fresh = [], len(layers)
    for source, target in edges:
        chain = [source]
        for layer in range(layers[source] + 1, 0 if is_direct else layers[target]):
            rows[layer].append(fresh)
            chain.append(fresh)
            fresh += 1
        chains.append([*chain, target])
    return rows, chains


def _neighbours(chains: list[list[int]]) -> tuple[Near, Near]:
    above: Near = {}
    below: Near = {}
    for chain in chains:
        for upper, lower in pairwise(chain):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    return above, below


def _order(rows: list[list[int]], above: Near, below: Near) -> None:
    for sweep in range(_SWEEPS):
        near, order = (above, rows) if sweep % 2 == 0 else (below, rows[::-1])
        for earlier, row in pairwise(order):
            place = {member: at / max(1, len(earlier) - 1) for at, member in enumerate(earlier)}
            _sort(row, near, place)


def _sort(row: list[int], near: Near, place: dict[int, float]) -> None:
    wanted = {}
    for at, member in enumerate(row):
        known = [place[other] for other in near.get(member, ()) if other in place]
        wanted[member] = sum(known) / len(known) if known else at / max(1, len(row) - 1)
    row.sort(key=lambda member: wanted[member])


def _across(rows: list[list[int]], sizes: list[int], above: Near) -> tuple[list[float], float]:
    """Return the left side of every member, and the width of all."""
    left = [0.0] * len(sizes)
    placed: set[int] = set()
    for row in rows:
        wanted = [
            sum(left[other] + sizes[other] / 2 for other in known) / len(known) if known else 0.0
            for known in ([o for o in above.get(member, ()) if o in placed] for member in row)
        ]
        x, starts = float("-inf"), []
        for member, middle in zip(row, wanted, strict=True):
            x = max(x, middle - sizes[member] / 2)
            starts.append(x)
            x += sizes[member] + _GAP
        off = sum(s + sizes[m] / 2 - w for s, m, w in zip(starts, row, wanted, strict=True))
        for member, start in zip(row, starts, strict=True):
            left[member] = start - off / len(row)
        placed.update(row)
    low = min(left, default=0.0) - 4.0
    right = max((x + size for x, size in zip(left, sizes, strict=True)), default=low + 4.0)
    return [x - low for x in left], right - low + 4.0


def _way(
    chain: list[int], middle: list[float], layers: list[int], edge: tuple[int, int]
) -> tuple[tuple[float, float], ...]:
    source, target = edge
    begin = layers[source] * LAYER_HEIGHT + 4.0 + BOX_HEIGHT
    points = [(middle[source], begin)]
    for step, member in enumerate(chain[1:-1], 1):
        top = (layers[source] + step) * LAYER_HEIGHT + 4.0
        points += [(middle[member], top), (middle[member], top + BOX_HEIGHT)]
    return (*points, (middle[target], layers[target] * LAYER_HEIGHT + 4.0))
