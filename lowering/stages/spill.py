"""Activations that wait outside: they leave the wafer once made and come back for later turns.

Where kernels take turns and what they keep for one another would overfill the SRAM, what is read
latest leaves through the weight ports, and comes back through them chunk by chunk for each reader
whose turn is far enough. Knows turns and bytes; no cut, no time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.problem import Shapes
from engine.kernels.views import views
from engine.program import HOST
from lowering.passes.fuse import KernelDraft
from lowering.stages.edges import Edge
from lowering.stages.kept import results
from lowering.stages.routing import Arrival

Away = frozenset[tuple[str, str]]
"""(tensor, reader) of what comes back from outside for that reader"""


@dataclass(frozen=True, slots=True)
class _Result:
    """What a kernel made, its views included: they share their bytes."""

    bytes: int
    reads: tuple[tuple[str, str], ...]
    """(tensor, reader) of the readers that it can come back for"""
    stays: tuple[tuple[int, int], ...]
    """turns in which it is on the wafer though it leaves, in order"""

    def gaps(self) -> list[tuple[int, int]]:
        """Return the turns in which it is outside, ends excluded."""
        return [
            (before[1] + 1, after[0])
            for before, after in zip(self.stays, self.stays[1:], strict=False)
            if before[1] + 1 < after[0]
        ]


def plan_away(
    drafts: Sequence[KernelDraft],
    shapes: Shapes,
    dtype: str,
    prefetch: int,
    outputs: Collection[str],
    budget: float,
) -> Away:
    """Return what waits outside so that at most `budget` bytes are alive over the wafer.

    In the fullest turn the result goes first that is outside for most turns a time it is moved.
    Turns that only hold what they or the next ones need stay as full as they are. `outputs`
    leave anyhow and never come back.
    """
    live, known = _movable(drafts, shapes, dtype, prefetch, outputs)
    gaps = [(gap, owner) for owner, result in enumerate(known) for gap in result.gaps()]
    if not gaps:
        return frozenset()
    first, end = (np.array([gap[side] for gap, _ in gaps], np.int64) for side in (0, 1))
    owner = np.array([owner for _, owner in gaps], np.int64)
    turns = np.bincount(owner, end - first, len(known))
    worth = (turns / [1 + len(result.reads) for result in known])[owner]
    is_away, is_stuck = np.zeros(len(known), bool), np.zeros(len(live), bool)
    while True:
        turn = int(np.where(is_stuck, -1, live).argmax())
        if is_stuck[turn] or live[turn] <= budget:
            break
        usable = (first <= turn) & (turn < end) & ~is_away[owner]
        if not usable.any():
            is_stuck[turn] = True
            continue
        chosen = int(owner[np.where(usable, worth, -1.0).argmax()])
        is_away[chosen] = True
        for start, stop in known[chosen].gaps():
            live[start:stop] -= known[chosen].bytes
    return frozenset(p for index in np.flatnonzero(is_away).tolist() for p in known[index].reads)


def _movable(
    drafts: Sequence[KernelDraft],
    shapes: Shapes,
    dtype: str,
    prefetch: int,
    outputs: Collection[str],
) -> tuple[np.ndarray, list[_Result]]:
    """Return the bytes alive in each turn while all stay, and the results that could leave."""
    readers: dict[str, list[int]] = {}
    for turn, draft in enumerate(drafts):
        for name in draft.reads:
            readers.setdefault(name, []).append(turn)
    change = np.zeros(len(drafts) + 1, np.int64)
    found: list[_Result] = []
    for made, draft in enumerate(drafts):
        for names, size in results(draft, shapes, dtype):
            turns = {name: readers.get(name, []) for name in names}
            change[made] += size
            change[max([made, *(t for each in turns.values() for t in each)]) + 1] -= size
            if not any(name in outputs for name in names):
                result = _result(drafts, made, size, turns, prefetch)
                found += [result] if result.reads else []
    return np.cumsum(change[:-1]), found


def _result(
    drafts: Sequence[KernelDraft],
    made: int,
    size: int,
    turns: dict[str, list[int]],
    prefetch: int,
) -> _Result:
    """Return a result as it would leave: it has left when the kernel 2 + `prefetch` turns later
    starts, and comes back from `prefetch` turns before its reader on."""
    gone = made + 1 + prefetch
    far = [(turn, name) for name, each in turns.items() for turn in each
           if turn - 1 - prefetch > gone]  # fmt: skip
    near = [turn for each in turns.values() for turn in each if turn - 1 - prefetch <= gone]
    stays = [(made, max([gone, *near])), *sorted((turn - prefetch, turn) for turn, _ in far)]
    reads = tuple((name, drafts[turn].name) for turn, name in far)
    return _Result(size, reads, tuple(stays))


def with_away(edges: Sequence[Edge], away: Away, drafts: Sequence[KernelDraft]) -> tuple[Edge, ...]:
    """Return the edges with those of `away` from outside, and one out for each of their results:
    views of one result leave once."""
    seen = {name: root for draft in drafts for name, root in views(draft.spec).items()}
    leaving: dict[str, Edge] = {}
    found = []
    for edge in edges:
        if (edge.tensor, edge.consumer) in away:
            leaving.setdefault(seen.get(edge.tensor, edge.tensor), edge)
            edge = replace(edge, producer=HOST, port="weights")
        found.append(edge)
    found += [
        Edge(e.tensor, e.producer, HOST, Arrival("grid", True), 1, whole=False, port="weights")
        for e in leaving.values()
    ]
    return tuple(found)
