"""Edges: which tensor goes from which kernel to which, how it enters, and in how many chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Agreed:
    """A tensor whose maker and reader agree on what its first chunk is."""

    source: str
    """kernel that makes it"""
    positions: int
    """what chunks cut"""


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


def plan_edges(
    drafts: Sequence[KernelDraft],
    models: Mapping[str, KernelModel],
    tilings: Mapping[str, Tiling],
    shapes: Shapes,
    outputs: Sequence[str],
    max_chunks: int,
) -> tuple[Edge, ...]:
    """Return every edge of the pipeline, in the consumers' order, host outputs last."""
    maker = {name: draft for draft in drafts for name in draft.writes}
    left = {d.name: kernel_streams(d.spec, shapes) for d in drafts}
    edges: list[Edge] = []
    for draft in drafts:
        for tensor in draft.reads:
            source = maker.get(tensor)
            given = left[source.name].get(tensor) if source else None
            wanted = _wanted(draft, tensor, left[draft.name], shapes)
            edges.append(
                _edge(tensor, source, draft, given, wanted, models, tilings, shapes, max_chunks)
            )
    for tensor in outputs:
        if tensor in maker:
            source = maker[tensor]
            edges.append(Edge(tensor, source.name, HOST, Arrival("grid", True), 1, whole=False))
    return tuple(edges)


def agreed_streams(drafts: Sequence[KernelDraft], shapes: Shapes) -> dict[tuple[str, str], Agreed]:
    """Return by (reader, tensor) what can go from kernel to kernel in chunks."""
    maker = {name: draft for draft in drafts for name in draft.writes}
    left = {d.name: kernel_streams(d.spec, shapes) for d in drafts}
    found = {}
    for draft in drafts:
        for tensor in draft.reads:
            wanted = _wanted(draft, tensor, left[draft.name], shapes)
            source = maker.get(tensor)
            if wanted and source and left[source.name].get(tensor) == wanted:
                found[draft.name, tensor] = Agreed(source.name, wanted.positions)
    return found


def _wanted(
    draft: KernelDraft, tensor: str, side: Mapping[str, Stream | None], shapes: Shapes
) -> Stream | None:
    main = draft.spec.main_op
    streamed = main.inputs[1] if isinstance(main, Gather) else main.inputs[0]
    if tensor == streamed and tensor not in main.inputs[2:]:
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
) -> Edge:
    model = models[draft.name]
    mode = _mode(draft, tensor, shapes)
    ordered = wanted is not None and (source is None or given == wanted)
    chunks, halo = 1, 0.0
    if ordered and wanted is not None and source is not None:
        limits = [(models[source.name], tilings[source.name]), (model, tilings[draft.name])]
        most = max_chunks if _is_wide(shapes[tensor], tilings[draft.name]) else MAX_CHUNKS
        chunks = _chunk_count(wanted.positions, limits, min(most, max_chunks))
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
                whole=not ordered, halo=halo)  # fmt: skip


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


def _is_wide(shape: tuple[int, ...], tiling: Tiling) -> bool:
    """Tell whether an eighth of a tensor still fills much of a row's SRAM."""
    return prod(shape) > WIDE_ELEMENTS * MAX_CHUNKS * tiling.m_parts * tiling.k_parts


def _chunk_count(
    positions: int, ends: Sequence[tuple[KernelModel, Tiling]], max_chunks: int
) -> int:
    """Return the largest count that cuts the tensor and both kernels' rows evenly."""
    for chunks in range(max_chunks, 1, -1):
        if positions % chunks:
            continue
        if all(cuts_evenly(m.problem.m_units, t.m_parts, chunks) for m, t in ends):
            return chunks
    return 1


def cuts_evenly(units: int, parts: int, chunks: int) -> bool:
    """Tell whether so many parts of M and so many chunks of it cut along the same lines."""
    return units % chunks == 0 and (parts == 1 or (units // chunks) % parts == 0)
