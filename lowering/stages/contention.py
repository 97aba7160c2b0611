"""Contention: the load vectors that transfers and kernel traffic share, for the timing engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.load import FlowPattern, shared_loads
from engine.program import Conflict, Kernel, Transfer
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
    return moving_conflicts(shared_loads(flows, names), transfers)


def moving_conflicts(
    conflicts: Sequence[Conflict], transfers: Sequence[Transfer]
) -> tuple[Conflict, ...]:
    """Return the conflicts with a transfer in them: only a transfer's rate can give way."""
    moving = {transfer.id for transfer in transfers}
    return tuple(each for each in conflicts if each.terms[0].flow in moving)
