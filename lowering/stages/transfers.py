"""From edges to transfers: legs, slots, and when chunks are given and needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil

from engine.kernels.problem import Shapes
from engine.machine import DTYPE_BYTES, MachineSpec
from engine.program import HOST, Leg, Transfer
from lowering.stages.edges import Edge
from lowering.stages.routing import End, host_in_legs, host_out_legs, transfer_legs, weight_legs

LEAST_SLOTS = 2
"""one chunk arrives while another is in work"""


def make_transfers(
    edges: Sequence[Edge],
    ends: Mapping[str, End],
    lengths: Mapping[str, int],
    shapes: Shapes,
    machine: MachineSpec,
    dtype: str,
    order: str = "yx",
) -> tuple[Transfer, ...]:
    """Return one transfer an edge, with the least slots, routed in `order`."""
    made = []
    for edge in edges:
        elements = 1
        for side in shapes[edge.tensor]:
            elements *= side
        chunk = -(-elements // edge.chunks)
        border = "outside" if edge.port == "weights" else "host"
        name = f"{edge.tensor}: {edge.producer or border} to {edge.consumer or border}"
        made.append(
            Transfer(
                id=name,
                tensor=edge.tensor,
                producer=edge.producer,
                consumers=(edge.consumer,),
                legs=_legs(edge, ends, machine, machine.words(chunk, dtype), order),
                chunks=edge.chunks,
                out_slots=LEAST_SLOTS,
                in_slots=(LEAST_SLOTS,),
                out_bytes=_out_bytes(edge, ends, chunk) * DTYPE_BYTES[dtype],
                in_bytes=(_in_bytes(edge, ends, chunk) * DTYPE_BYTES[dtype],),
                give=_given(edge, lengths),
                need=(_needed(edge, lengths),),
                whole=edge.whole,
                port=edge.port,
            )
        )
    return tuple(made)


def _legs(
    edge: Edge, ends: Mapping[str, End], machine: MachineSpec, words: int, order: str
) -> tuple[Leg, ...]:
    if edge.producer == HOST and edge.port == "weights" and edge.arrival.mode == "held":
        return weight_legs(ends[edge.consumer], words)
    if edge.producer == HOST:
        return host_in_legs(ends[edge.consumer], edge.arrival, words)
    if edge.consumer == HOST:
        return host_out_legs(ends[edge.producer], machine, words)
    return transfer_legs(ends[edge.producer], ends[edge.consumer], edge.arrival, words, order)


def _out_bytes(edge: Edge, ends: Mapping[str, End], chunk: int) -> int:
    """Elements of a chunk on the fullest PE of its producer."""
    return 0 if edge.producer == HOST else -(-chunk // ends[edge.producer].region.area)


def _in_bytes(edge: Edge, ends: Mapping[str, End], chunk: int) -> int:
    """Elements of a chunk on the fullest PE of its consumer."""
    if edge.consumer == HOST:
        return 0
    end, arrival = ends[edge.consumer], edge.arrival
    rows = end.tiling.m_parts * end.tiling.k_parts
    moved = ceil(chunk * (1 + arrival.halo))
    if arrival.mode == "rows":
        return -(-moved // (rows * arrival.batch))
    if arrival.mode == "held":
        return -(-chunk // (end.tiling.k_parts * end.tiling.n_parts))
    if arrival.mode == "copied":
        return -(-(chunk * arrival.copies) // rows)
    return -(-moved // end.region.area)


def _given(edge: Edge, lengths: Mapping[str, int]) -> tuple[int, int]:
    """A producer finishes its chunks evenly over its length."""
    if edge.producer == HOST:
        return 0, 0
    length = lengths[edge.producer]
    return -(-length // edge.chunks), length


def _needed(edge: Edge, lengths: Mapping[str, int]) -> tuple[int, int]:
    """A consumer works through its chunks evenly, a halo earlier where windows overlap."""
    if edge.consumer == HOST or edge.chunks == 1:
        return 0, 0
    length = lengths[edge.consumer]
    last = (edge.chunks - 1) / edge.chunks - edge.halo
    return 0, max(0, int(length * last))


def with_slots(
    transfers: Sequence[Transfer], in_slots: Sequence[int], out_slots: int
) -> tuple[Transfer, ...]:
    """Return the transfers with these slots."""
    return tuple(
        replace(t, in_slots=(count,), out_slots=out_slots)
        for t, count in zip(transfers, in_slots, strict=True)
    )
