"""Tilings of kernels that take turns on the whole wafer.

A tile leaves room for the weights and activations of other turns. Its own bytes follow from the
chunks in which its operand can come, and these from the tiling of the kernel that makes it. Knows
plans, no time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from engine.kernels.cost import KernelModel
from engine.kernels.footprint import even_chunks
from engine.kernels.problem import Shapes
from engine.program import Tiling
from lowering.config import CompileConfig
from lowering.passes.fuse import KernelDraft
from lowering.stages.edges import Agreed, agreed_streams, cuts_evenly
from lowering.stages.placement import BIG
from lowering.stages.plan import KernelPlan
from lowering.stages.sizing import SizingLimits, best_tiling


def turn_tilings(
    plan: KernelPlan, shapes: Shapes, config: CompileConfig, chunks: int, room: int
) -> dict[str, Tiling]:
    """Return the tiling of every kernel.

    `chunks`: most chunks a sample is cut into; `room`: bytes a tile may take. Where an operand
    would have to come as a whole and fits on no tile, its maker is cut so that it can give chunks.
    """
    machine = config.machine
    agreed = agreed_streams(plan.drafts, shapes)
    found: dict[str, Tiling] = {}
    fed: dict[str, int] = {}
    for draft in plan.drafts:
        model = plan.models[draft.name]
        limits = SizingLimits(
            machine.rows, machine.cols, room, config.cap(draft.name), max_chunks=chunks,
            results=len(draft.writes),
        )  # fmt: skip
        ahead = agreed.get((draft.name, _streamed(draft)))
        most = _most_chunks(ahead, plan.models, found, chunks)
        own = replace(limits, max_chunks=most, whole=most == 1)
        found[draft.name], cycles = best_tiling(model, machine, config.storage, own)
        if cycles >= BIG and ahead is not None and most < chunks:
            tiling, _ = best_tiling(model, machine, config.storage, limits)
            even = even_chunks(model.problem, np.array(tiling.m_parts), chunks)
            found[draft.name] = tiling
            fed[ahead.source] = max(int(even), fed.get(ahead.source, 1))
    for name, cut in fed.items():
        limits = SizingLimits(
            machine.rows, machine.cols, room, config.cap(name), least_gain=0.0, max_chunks=chunks
        )
        found[name] = _giving_chunks(plan.models[name], cut, config, limits) or found[name]
    return found


def _streamed(draft: KernelDraft) -> str:
    """Return the operand that a kernel's main operation walks; empty if it reads none."""
    inputs = draft.spec.main_op.inputs
    return inputs[0] if inputs else ""


def _most_chunks(
    ahead: Agreed | None,
    models: Mapping[str, KernelModel],
    tilings: Mapping[str, Tiling],
    chunks: int,
) -> int:
    """Return the most chunks in which a maker, as it is cut, can give what both walk alike."""
    if ahead is None or ahead.source not in tilings:
        return 1
    units, parts = models[ahead.source].problem.m_units, tilings[ahead.source].m_parts
    fitting = (
        count
        for count in range(chunks, 1, -1)
        if ahead.positions % count == 0 and cuts_evenly(units, parts, count)
    )
    return next(fitting, 1)


def _giving_chunks(
    model: KernelModel, most: int, config: CompileConfig, limits: SizingLimits
) -> Tiling | None:
    """Return the tiling that gives the most chunks up to `most`, None where none gives two."""
    while most > 1:
        even = replace(limits, m_parts=model.problem.m_units // most)
        tiling, cycles = best_tiling(model, config.machine, config.storage, even)
        if cycles < BIG and model.problem.m_units % most == 0:
            return tiling
        most //= 2
    return None
