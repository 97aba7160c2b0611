"""What kernels that take turns keep for one another: results, each until its last reader's turn."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from engine.kernels.footprint import stored_bytes
from engine.kernels.problem import Shapes
from engine.kernels.views import views
from engine.machine import DTYPE_BYTES
from lowering.passes.fuse import KernelDraft
from lowering.stages.plan import KernelPlan


@dataclass(frozen=True, slots=True)
class LeastLive:
    """The turn that needs the most SRAM however tensors are cut."""

    kernel: str
    size: int
    """bytes on the whole wafer"""


def least_live(plan: KernelPlan, shapes: Shapes, dtype: str) -> LeastLive:
    """Return the turn that holds the most while all stay: its weights, its results and what later
    turns read, every number counted once.

    A bound: slots, copies and uneven shares come on top.
    """
    last = _last_turns(plan)
    change = np.zeros(len(plan.drafts) + 1, np.int64)
    for turn, draft in enumerate(plan.drafts):
        weights = stored_bytes(plan.models[draft.name], dtype)
        change[turn : turn + 2] += weights, -weights
        for names, held in results(draft, shapes, dtype):
            change[turn] += held
            change[max(turn, *(last.get(name, turn) for name in names)) + 1] -= held
    live = np.cumsum(change[:-1])
    turn = int(live.argmax())
    return LeastLive(plan.drafts[turn].name, int(live[turn]))


def least_own(plan: KernelPlan, shapes: Shapes, dtype: str) -> LeastLive:
    """Return the turn that holds the most of its own: its weights and its results.

    A bound even where all else waits outside.
    """
    own = [
        stored_bytes(plan.models[draft.name], dtype)
        + sum(held for _, held in results(draft, shapes, dtype))
        for draft in plan.drafts
    ]
    turn = max(range(len(own)), key=lambda place: own[place])
    return LeastLive(plan.drafts[turn].name, own[turn])


def results(draft: KernelDraft, shapes: Shapes, dtype: str) -> list[tuple[tuple[str, ...], int]]:
    """Return what a kernel makes: tensors that share their bytes, and these."""
    seen = views(draft.spec)
    members: dict[str, tuple[str, ...]] = {}
    for name in draft.writes:
        root = seen.get(name, name)
        members[root] = (*members.get(root, ()), name)
    size = DTYPE_BYTES[dtype]
    return [(names, prod(shapes[root]) * size) for root, names in members.items()]


def _last_turns(plan: KernelPlan) -> dict[str, int]:
    """Return the turn of each tensor's last reader."""
    return {name: turn for turn, draft in enumerate(plan.drafts) for name in draft.reads}
