"""Slots: how many chunks each edge must hold so that it never slows the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from engine.net import UNLIMITED, build_net
from engine.program import HOST, Program, Transfer
from engine.timing import simulate
from lowering.stages.transfers import LEAST_SLOTS

SIZING_SAMPLES = 12
"""samples of the sizing run at most; what an edge holds has settled by then"""


def needed_slots(program: Program, lengths: Mapping[str, int]) -> tuple[int, ...]:
    """Return the in slots of each transfer: the most chunks it holds in an unhindered run.

    The run has unlimited slots, no contention, and sources paced at the busiest region.
    """
    net = build_net(program, lengths)
    pace = max(sum(lengths[k] for k in region) for region in program.order)
    none = np.zeros(1, np.int64)
    empty = np.zeros(0, np.int64)
    free = net._replace(
        samples=min(program.samples, SIZING_SAMPLES),
        admit_every=pace,
        out_slots=np.full_like(net.out_slots, UNLIMITED),
        in_slots=np.full_like(net.in_slots, UNLIMITED),
        conflict_start=none, conflict_transfer=empty, conflict_coef=empty,
        reserve_start=none, reserve_kernel=empty, reserve_rate=empty,
    )  # fmt: skip
    held = simulate(free).peak_held(free)
    return tuple(max(LEAST_SLOTS, int(count)) for count in held)


def live_slots(transfers: Sequence[Transfer], in_slots: int, out_slots: int) -> tuple[int, ...]:
    """Return `in_slots` for each transfer, more where fewer would deadlock.

    A transfer that runs beside another branch between the same kernels must hold a whole sample
    over both its ends: the branch may need all of it before it gives anything.
    """
    leaving = Counter(t.producer for t in transfers)
    arriving = Counter(consumer for t in transfers for consumer in t.consumers)
    found = []
    for transfer in transfers:
        forks = transfer.producer != HOST and leaving[transfer.producer] > 1
        joins = any(c != HOST and arriving[c] > 1 for c in transfer.consumers)
        least = transfer.chunks - out_slots if forks and joins else 1
        found.append(max(in_slots, least))
    return tuple(found)
