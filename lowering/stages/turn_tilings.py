"""Tilings of kernels that take turns on the whole wafer.

A tile leaves room for the weights and activations of other turns. Knows plans, no time.
"""

from __future__ import annotations

from engine.kernels.problem import Shapes
from engine.program import Tiling
from lowering.config import CompileConfig
from lowering.stages.edges import walks_chunks
from lowering.stages.plan import KernelPlan
from lowering.stages.sizing import SizingLimits, best_tiling
from lowering.stages.turn_area import turn_area


def turn_tilings(
    plan: KernelPlan, shapes: Shapes, config: CompileConfig, chunks: int, room: int
) -> dict[str, Tiling]:
    """Return the fastest tiling of every kernel in `room` bytes of a PE.

    `chunks`: most chunks in which an operand comes; what a kernel makes waits as a whole.
    """
    machine, area = config.machine, turn_area(config.machine)
    made = {name for draft in plan.drafts for name in draft.writes}
    found: dict[str, Tiling] = {}
    for draft in plan.drafts:
        most = chunks if walks_chunks(draft, made, shapes) else 1
        limits = SizingLimits(
            area.rows, area.cols, room, config.cap(draft.name), whole=most == 1,
            max_chunks=most, results=len(draft.writes),
        )  # fmt: skip
        found[draft.name], _ = best_tiling(plan.models[draft.name], machine, config.storage, limits)
    return found
