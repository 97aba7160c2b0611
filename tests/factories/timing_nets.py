"""Small timing nets: chains and skips a reader can check on paper, and seeded random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.timing.net import COEF_UNIT, RATE_UNIT, TimingNet


@dataclass(frozen=True, slots=True)
class Edge:
    """A transfer as a test writes it."""

    producer: int
    """kernel, -1 for the host"""
    readers: tuple[int, ...]
    """kernels, -1 for the host"""
    words: int = 5
    """words a chunk"""
    out: int = 2
    """out slots"""
    slots: int | tuple[int, ...] = 2
    """in slots, of every reader or of each"""
    chunks: int = 1
    """chunks a sample"""
    latency: int = 0
    """cycles"""
    cap: int = RATE_UNIT
    """highest rate"""
    give: tuple[int, int] | None = None
    """first and last; None: evenly over the producer's length"""
    after: int = -1
    """kernel that must have ended before it moves, -1 for none"""
    need: tuple[int, int] | None = None
    """first and last, of every reader; None: evenly over its length"""


def build_net(
    lengths: Sequence[int],
    edges: Sequence[Edge],
    samples: int = 1,
    conflicts: Sequence[dict[int, int]] = (),
    reserves: Sequence[dict[int, int]] = (),
    regions: Sequence[Sequence[int]] | None = None,
    admit_every: int = 0,
    loader: tuple[int, int, int] = (0, 0, 0),
) -> TimingNet:
    """Return the net; a conflict maps transfers to coefficients, a reserve kernels to rates.

    `loader`: workers, cycles a sample, samples ahead.
    """
    regions = [[kernel] for kernel in range(len(lengths))] if regions is None else regions
    reserves = [*reserves, *[{}] * (len(conflicts) - len(reserves))]
    readers = [reader for edge in edges for reader in edge.readers]
    per_use = [edge for edge in edges for _ in edge.readers]
    slots = [edge.slots if isinstance(edge.slots, tuple) else (edge.slots,) * len(edge.readers)
             for edge in edges]  # fmt: skip
    gives = [edge.give or _gives(lengths, edge) for edge in edges]
    needs = [edge.need or _needs(lengths, reader, edge)
             for reader, edge in zip(readers, per_use, strict=True)]  # fmt: skip
    return TimingNet(
        samples=samples, admit_every=admit_every, loader_workers=loader[0],
        loader_cycles=loader[1], loader_ahead=loader[2], length=_array(lengths),
        region_start=_starts(regions), region_kernel=_array([k for r in regions for k in r]),
        producer=_array([edge.producer for edge in edges]),
        after=_array([edge.after for edge in edges]),
        chunks=_array([edge.chunks for edge in edges]),
        words=_array([edge.words for edge in edges]), cap=_array([edge.cap for edge in edges]),
        latency=_array([edge.latency for edge in edges]),
        out_slots=_array([edge.out for edge in edges]),
        give_first=_array([give[0] for give in gives]),
        give_last=_array([give[1] for give in gives]),
        use_start=_starts([edge.readers for edge in edges]), use_kernel=_array(readers),
        in_slots=_array([slot for several in slots for slot in several]),
        need_first=_array([need[0] for need in needs]),
        need_last=_array([need[1] for need in needs]),
        conflict_start=_starts(conflicts),
        conflict_transfer=_array([member for row in conflicts for member in row]),
        conflict_coef=_array([coef for row in conflicts for coef in row.values()]),
        reserve_start=_starts(reserves),
        reserve_kernel=_array([member for row in reserves for member in row]),
        reserve_rate=_array([rate for row in reserves for rate in row.values()]),
    )  # fmt: skip


def build_chain(out: int, slots: int, latency: int = 0, samples: int = 3) -> TimingNet:
    """Return the worked example: kernels of 10, 20, 10 cycles, transfers of 5 cycles."""
    edges = [Edge(k, (k + 1,), out=out, slots=slots, latency=latency) for k in range(2)]
    return build_net([10, 20, 10], edges, samples)


def build_skip(out: int, slots: int, broadcast: bool = False, chunks: int = 8) -> TimingNet:
    """Return kernel 0 feeding kernel 2 twice: through 1, which gives only at its end, and past it.

    `out` and `slots` are those of the skip edge, all others are 2.
    """
    last = Edge(1, (2,), chunks=chunks, give=(80, 80))
    if broadcast:
        fork = [Edge(0, (1, 2), chunks=chunks, out=out, slots=(2, slots))]
    else:
        fork = [Edge(0, (1,), chunks=chunks), Edge(0, (2,), chunks=chunks, out=out, slots=slots)]
    return build_net([80, 80, 80], [*fork, last], samples=2)


def build_random(seed: int) -> TimingNet:
    """Return a connected net with chunks, broadcasts, shared regions, links and reserves."""
    rng = np.random.default_rng(seed)
    kernels = int(rng.integers(2, 8))
    chunks = int(rng.choice([1, 2, 4]))
    edges = [_random_edge(rng, -1, (0,), chunks)]
    edges += [_random_edge(rng, k - 1, (k,), chunks) for k in range(1, kernels)]
    for _ in range(int(rng.integers(0, 3))):
        first = int(rng.integers(0, kernels - 1))
        later = rng.choice(np.arange(first + 1, kernels), size=min(2, kernels - first - 1),
                           replace=False)  # fmt: skip
        edges.append(_random_edge(rng, first, tuple(int(k) for k in later), chunks))
    edges.append(_random_edge(rng, kernels - 1, (-1,), chunks))
    conflicts, reserves = [], []
    for _ in range(int(rng.integers(0, 4))):
        members = rng.choice(len(edges), size=int(rng.integers(1, len(edges) + 1)), replace=False)
        conflicts.append({int(m): int(rng.integers(1, COEF_UNIT + 1)) for m in members})
        rate = int(rng.integers(0, RATE_UNIT * COEF_UNIT))
        reserves.append({int(rng.integers(0, kernels)): rate} if rng.random() < 0.5 else {})
    half = kernels // 2 if rng.random() < 0.3 and chunks == 1 else kernels
    regions = [[kernel] for kernel in range(half)] + ([[*range(half, kernels)]] * (half < kernels))
    return build_net(
        [int(x) for x in rng.integers(1, 60, kernels)], edges, int(rng.integers(1, 5)),
        conflicts, reserves, regions, int(rng.choice([0, 0, 37])),
    )  # fmt: skip


def _random_edge(
    rng: np.random.Generator, producer: int, readers: tuple[int, ...], chunks: int
) -> Edge:
    return Edge(
        producer, readers, words=int(rng.integers(0, 20)), out=int(rng.integers(1, 4)),
        slots=int(rng.integers(2, 6)), chunks=chunks, latency=int(rng.integers(0, 8)),
        cap=int(rng.integers(1, 9)) * RATE_UNIT // 8,
    )  # fmt: skip


def _gives(lengths: Sequence[int], edge: Edge) -> tuple[int, int]:
    if edge.producer < 0:
        return 0, 0
    length = lengths[edge.producer]
    return -(-length // edge.chunks), length


def _needs(lengths: Sequence[int], reader: int, edge: Edge) -> tuple[int, int]:
    length = lengths[reader] if reader >= 0 else 0
    return 0, length - -(-length // edge.chunks)


def _array(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int64)


def _starts(rows: Sequence[Sequence[int]] | Sequence[dict[int, int]]) -> np.ndarray:
    return np.cumsum([0, *(len(row) for row in rows)]).astype(np.int64)
