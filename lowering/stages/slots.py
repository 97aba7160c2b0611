"""Slots: how many chunks each edge must hold so that it never slows the pipeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from engine.program import HOST, Program, Transfer
from engine.timing.clock import simulate
from engine.timing.net import UNLIMITED, build_net
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

    A kernel fed by several kernels waits for the slowest of them, which may need a whole sample
    of what they all come from before it gives anything. So each of its transfers holds a whole
    sample over both ends, however far back the branches part.
    """
    arriving = Counter(c for t in transfers if t.producer != HOST for c in t.consumers)
    found = []
    for transfer in transfers:
        joins = transfer.producer != HOST and any(
            c != HOST and arriving[c] > 1 for c in transfer.consumers
        )
        found.append(max(in_slots, transfer.chunks - out_slots if joins else 1))
    return tuple(found)
