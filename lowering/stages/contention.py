"""Contention: the load vectors that transfers and kernel traffic share, for the timing engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.load import FlowPattern, LoadVector, shared_loads
from engine.program import Conflict, ConflictTerm, Kernel, Transfer
from engine.transfers import busiest_words, leg_patterns, transfer_patterns


def find_conflicts(
    kernels: Sequence[Kernel], transfers: Sequence[Transfer], lengths: Mapping[str, int]
) -> tuple[Conflict, ...]:
    """Return the undominated load vectors of a routed program."""
    flows: list[FlowPattern] = []
    names: list[str] = []
    for transfer in transfers:
        patterns = transfer_patterns(transfer.legs)
        busiest = busiest_words(patterns)
        if busiest:
            flows += [FlowPattern(len(names), p, 1 / busiest) for p in patterns]
        names.append(transfer.id)
    for kernel in kernels:
        for leg in kernel.legs:
            weight = 1 / max(1, lengths[kernel.id])
            flows += [FlowPattern(len(names), p, weight) for p in leg_patterns(leg)]
        names.append(kernel.id)
    return named_conflicts(shared_loads(flows), names, len(transfers))


def named_conflicts(
    vectors: Sequence[LoadVector], names: Sequence[str], moving: int
) -> tuple[Conflict, ...]:
    """Return the vectors that hold one of the first `moving` flows; equal terms are one object."""
    wanted = [v for v in vectors if v.terms[0][0] < moving]
    known = {
        (flow, words): ConflictTerm(names[flow], words)
        for flow, words in {term for v in wanted for term in v.terms}
    }
    return tuple(
        Conflict(v.plane, v.row, v.col, tuple(map(known.__getitem__, v.terms))) for v in wanted
    )
