"""Edges: which tensor goes from which kernel to which, how it enters, and in how many chunks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from engine.kernels.cost import MAX_CHUNKS, KernelModel
from engine.kernels.gather.spec import Gather
from engine.kernels.problem import Shapes
from engine.program import HOST, Tiling
from lowering.passes.fuse import KernelDraft
from lowering.stages.routing import Arrival
from lowering.stages.streams import Stream, input_stream, kernel_streams

WIDE_ELEMENTS = 1024
"""elements of a chunk on a PE beyond which samples may be cut finer than usual; finer cuts cost
steps"""

NARROW_ELEMENTS = 512
"""elements of a chunk on a PE below which finer cuts would save too little SRAM"""


@dataclass(frozen=True, slots=True)
class Edge:
    """A tensor's way from a producer to one consumer."""

    tensor: str
    producer: str
    consumer: str
    arrival: Arrival
    chunks: int
    """equal chunks a sample; 1 = the whole tensor"""
    whole: bool
    """the reader needs all of it before it starts"""
    halo: float = 0.0
    """share of the tensor beyond its own chunk that the reader needs at each point"""
    port: str = "host"
    """border that it crosses where one end is the host: host | weights"""


def plan_edges(
    drafts: Sequence[KernelDraft],
    models: Mapping[str, KernelModel],
    tilings: Mapping[str, Tiling],
    shapes: Shapes,
    outputs: Sequence[str],
    max_chunks: int,
    *,
    turns: bool = False,
) -> tuple[Edge, ...]:
    """Return every edge, in the consumers' order, host outputs last.

    `turns`: a kernel starts when those before it have ended and keep what they made, so that its
    operand comes in its own chunks however their makers were cut.
    """
    maker = {name: draft for draft in drafts for name in draft.writes}
    left = {d.name: kernel_streams(d.spec, shapes) for d in drafts}
    edges: list[Edge] = []
    for draft in drafts:
        for tensor in draft.reads:
            source = maker.get(tensor)
            given = left[source.name].get(tensor) if source else None
            wanted = _wanted(draft, tensor, left[draft.name], shapes)
            edges.append(
                _edge(
                    tensor,
                    source,
                    draft,
                    given,
                    wanted,
                    models,
                    tilings,
                    shapes,
                    max_chunks,
                    turns=turns,
                )
            )
    for tensor in outputs:
        if tensor in maker:
            source = maker[tensor]
            edges.append(Edge(tensor, source.name, HOST, Arrival("grid", True), 1, whole=False))
    return tuple(edges)


def walks_chunks(draft: KernelDraft, made: Collection[str], shapes: Shapes) -> bool:
    """Tell whether the operand that a kernel's main operation walks can come chunk by chunk.

    `made` are the tensors of kernels; what comes from the host comes as a whole.
    """
    tensor = _streamed(draft)
    if tensor not in made or tensor not in draft.reads:
        return False
    return _wanted(draft, tensor, kernel_streams(draft.spec, shapes), shapes) is not None


def _streamed(draft: KernelDraft) -> str:
    """Return the operand that a kernel's main operation walks; empty if it reads none."""
    main = draft.spec.main_op
    if isinstance(main, Gather):
        return main.inputs[1]
    return main.inputs[0] if main.inputs else ""


def _wanted(
    draft: KernelDraft, tensor: str, side: Mapping[str, Stream | None], shapes: Shapes
) -> Stream | None:
    main = draft.spec.main_op
    if tensor == _streamed(draft) and tensor not in main.inputs[2:]:
        only_main = tensor not in main.inputs[1:] or isinstance(main, Gather)
        return input_stream(main, shapes) if only_main else None
    return None if tensor in main.inputs and _holds(draft, tensor) else side.get(tensor)


def _holds(draft: KernelDraft, tensor: str) -> bool:
    return draft.family in ("dot", "conv", "gather", "moe")


def _edge(
    tensor: str,
    source: KernelDraft | None,
    draft: KernelDraft,
    given: Stream | None,
    wanted: Stream | None,
    models: Mapping[str, KernelModel],
    tilings: Mapping[str, Tiling],
    shapes: Shapes,
    max_chunks: int,
    *,
    turns: bool,
) -> Edge:
    model = models[draft.name]
    mode = _mode(draft, tensor, shapes)
    ordered = wanted is not None and (source is None or given == wanted)
    whole = wanted is None or not (ordered or turns)
    chunks, halo = 1, 0.0
    if wanted is not None and source is not None and not whole:
        limits = [(model, tilings[draft.name])]
        if not turns:
            limits.append((models[source.name], tilings[source.name]))
        most = _most_chunks(shapes[tensor], tilings[draft.name], max_chunks, ordered=ordered)
        chunks = _chunk_count(wanted.positions, limits, most)
    problem = model.problem
    if problem.halo_units and mode in ("rows", "grid") and tensor == draft.spec.main_op.inputs[0]:
        halo = min(1.0, problem.halo_units / problem.in_units)
    tiling = tilings[draft.name]
    arrival = Arrival(
        mode,
        ordered,
        batch=problem.batch if mode == "rows" else 1,
        copies=tiling.m_parts if mode == "held" or _is_index(draft, tensor) else 1,
        halo=halo * (tiling.m_parts - 1),
    )
    return Edge(tensor, source.name if source else HOST, draft.name, arrival, chunks,
                whole=whole, halo=halo)  # fmt: skip


def _mode(draft: KernelDraft, tensor: str, shapes: Shapes) -> str:
    main = draft.spec.main_op
    if draft.family in ("dot", "conv", "moe") and tensor in main.inputs:
        return "rows" if tensor == main.inputs[0] else "held"
    if draft.family == "embedding" and tensor == main.inputs[0]:
        return "held"
    if draft.family == "gather" and tensor in main.inputs:
        return "copied"
    if draft.family == "reduce" and tensor in main.inputs and main is draft.spec.ops[0]:
        return "cells" if prod(shapes[tensor]) != prod(shapes[main.outputs[0]]) else "grid"
    results = prod(shapes[main.outputs[0]])
    return "grid" if prod(shapes[tensor]) * 2 > results else "copied"


def _is_index(draft: KernelDraft, tensor: str) -> bool:
    """Tell whether every PE needs the whole tensor: which table row each arriving row is for."""
    return draft.family == "embedding" and tensor == draft.spec.main_op.inputs[1]


def _most_chunks(shape: tuple[int, ...], tiling: Tiling, limit: int, *, ordered: bool) -> int:
    """Return the chunks to aim at: few where they save neither time nor much SRAM.

    In order they let a reader start early. What a maker holds as a whole comes in as few as keep a
    row's slots small.
    """
    row = -(-prod(shape) // (tiling.m_parts * tiling.k_parts))
    if not ordered:
        return min(limit, -(-row // NARROW_ELEMENTS))
    return limit if row > WIDE_ELEMENTS * MAX_CHUNKS else min(limit, MAX_CHUNKS)


def _chunk_count(
    positions: int, ends: Sequence[tuple[KernelModel, Tiling]], max_chunks: int
) -> int:
    """Return the largest count that cuts the tensor and both kernels' rows evenly."""
    for chunks in range(max_chunks, 1, -1):
        if positions % chunks:
            continue
        if all(_cuts_evenly(m.problem.m_units, t.m_parts, chunks) for m, t in ends):
            return chunks
    return 1


def _cuts_evenly(units: int, parts: int, chunks: int) -> bool:
    """Tell whether so many parts of M and so many chunks of it cut along the same lines."""
    return units % chunks == 0 and (parts == 1 or (units // chunks) % parts == 0)
