"""How many wafers a pipeline needs at least whose kernels have no room on one.

The kernels are cut, in program order, into consecutive groups with a wafer each, every kernel at
its smallest size with two slots an edge. More slots, colors and what goes from wafer to wafer may
ask for more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.kernels.footprint import tile_bytes
from engine.progress import NO_PROGRESS, Progress
from lowering.config import CompileConfig
from lowering.report import Overflow, WaferPart, Wafers
from lowering.stages.infeasible import Infeasible
from lowering.stages.placement import lacks_room
from lowering.stages.plan import KernelPlan, dead_pes, kernel_tables
from lowering.stages.room import Room
from lowering.stages.shapes import BIG, ShapeStack, stack_shapes
from lowering.stages.sizing import best_tiling

SHRINK = 16
"""a group that shelves cannot hold loses one kernel in this many"""


def pipeline_wafers(
    plan: KernelPlan, config: CompileConfig, progress: Progress = NO_PROGRESS
) -> Wafers | None:
    """Return the wafers for a pipeline that has no room on one; None where one has room.

    Each takes the longest run of kernels that can be placed on it. Pins, which are places on the
    one wafer, do not count.
    """
    machine = config.machine
    room = Room(replace(config, pins=()), 1, {})
    stack = stack_shapes(kernel_tables(plan, room, progress), machine.rows, machine.cols, {})
    names = [draft.name for draft in plan.drafts]
    areas = stack.least_areas(BIG - 1)
    progress.stage("wafers", len(names), "kernels")
    parts: list[WaferPart] = []
    start = 0
    while start < len(names):
        progress.check()
        stop, lack = _longest(stack, areas, start, config)
        if lack is not None:
            alone = _alone(plan, room, start, lack)
            return Wafers(machine.name, (), alone, "pipeline")
        pes = int(areas[start:stop].sum())
        parts.append(WaferPart(names[start], names[stop - 1], pes=pes))
        start = stop
    return Wafers(machine.name, tuple(parts), mode="pipeline") if len(parts) > 1 else None


def _longest(
    stack: ShapeStack, areas: np.ndarray, start: int, config: CompileConfig
) -> tuple[int, Infeasible | None]:
    """Return the end (excluded) of the longest group from `start`, and why one kernel is none."""
    machine = config.machine
    taken = np.cumsum(areas[start:])
    stop = start + max(1, int(np.searchsorted(taken, machine.working_pes, side="right")))
    while True:
        lack = lacks_room(stack.of_kernels(start, stop), dead_pes(machine), config.aspect)
        if lack is None or stop == start + 1:
            return stop, lack
        stop -= max(1, (stop - start) // SHRINK)


def _alone(plan: KernelPlan, room: Room, kernel: int, lack: Infeasible) -> Overflow:
    """Return what a kernel lacks that has a wafer of its own, at the size that holds the least."""
    machine, dtype = room.target
    draft = plan.drafts[kernel]
    model, limits = plan.models[draft.name], room.limits(machine.rows, machine.cols, draft.name)
    tiling, _ = best_tiling(model, machine, dtype, limits)
    m_parts, k_parts = np.asarray(tiling.m_parts), np.asarray(tiling.k_parts)
    held = int(
        tile_bytes(
            model, m_parts, k_parts, np.asarray(tiling.n_parts), dtype, whole=limits.whole,
            most=limits.max_chunks,
        )
    )  # fmt: skip
    return Overflow(
        "SRAM", f"kernel '{draft.name}' on its fullest PE", machine.reserved_sram_bytes + held,
        machine.sram_bytes, max(0, held - machine.data_sram_bytes), "B", (), lack.levers,
    )  # fmt: skip
