"""What kernels that take turns keep for one another: results, each until its last reader's turn."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from engine.kernels.footprint import stored_bytes
from engine.kernels.problem import Shapes
from engine.kernels.views import views
from engine.machine import DTYPE_BYTES
from lowering.stages.plan import KernelPlan


@dataclass(frozen=True, slots=True)
class LeastLive:
    """The turn that needs the most SRAM however tensors are cut."""

    kernel: str
    size: int
    """bytes on the whole wafer: its weights, its results and what later turns read"""


def least_live(plan: KernelPlan, shapes: Shapes, dtype: str) -> LeastLive:
    """Return the turn that holds the most, every number counted once.

    A bound: slots, copies and uneven shares come on top.
    """
    size, last = DTYPE_BYTES[dtype], _last_turns(plan)
    change = np.zeros(len(plan.drafts) + 1, np.int64)
    for turn, draft in enumerate(plan.drafts):
        weights = stored_bytes(plan.models[draft.name], dtype)
        change[turn : turn + 2] += weights, -weights
        seen = views(draft.spec)
        kept: dict[str, int] = {}
        for name in draft.writes:
            root = seen.get(name, name)
            kept[root] = max(kept.get(root, turn), last.get(name, turn))
        for root, end in kept.items():
            held = prod(shapes[root]) * size
            change[turn] += held
            change[end + 1] -= held
    live = np.cumsum(change[:-1])
    turn = int(live.argmax())
    return LeastLive(plan.drafts[turn].name, int(live[turn]))


def _last_turns(plan: KernelPlan) -> dict[str, int]:
    """Return the turn of each tensor's last reader."""
    return {name: turn for turn, draft in enumerate(plan.drafts) for name in draft.reads}
