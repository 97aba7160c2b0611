"""Tilings of kernels that take turns: makers are cut so that readers need no whole operand."""

from __future__ import annotations

import pytest

from engine.kernels.dot.spec import Dot
from engine.kernels.pointwise.spec import Map
from engine.machine import generic_mesh
from engine.program import Tiling
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.passes.fuse import fuse
from lowering.stages.edges import Edge, plan_edges
from lowering.stages.plan import plan_kernels
from lowering.stages.turn_tilings import turn_tilings
from tests.factories.graphs import tiny_graph

WIDTH = 4096


def wide_pair() -> Graph:
    """A kernel of 128 rows without sums, and a product that reads what it makes."""
    return tiny_graph(
        {"x": (128, WIDTH), "a": (128, WIDTH), "w": (WIDTH, 16), "y": (128, 16)},
        Map(inputs=("x",), outputs=("a",), fn="exp"),
        Dot(inputs=("a", "w"), outputs=("y",)),
    )


def planned(room: int, chunks: int = 8) -> tuple[dict[str, Tiling], Edge]:
    """Tilings by kernel and the edge between the two, for tiles of `room` bytes."""
    graph = wide_pair()
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = plan_kernels(fuse(graph), shapes)
    config = CompileConfig(machine=generic_mesh(64, 16))
    tilings = turn_tilings(plan, shapes, config, chunks, room)
    edges = plan_edges(plan.drafts, plan.models, tilings, shapes, graph.outputs, chunks)
    return tilings, next(edge for edge in edges if edge.tensor == "a")


def slot_bytes(edge: Edge, tiling: Tiling) -> int:
    """Bytes a row of PEs keeps of the operand: two chunks, or all of it."""
    rows = tiling.m_parts * tiling.k_parts
    return min(2, edge.chunks) * 128 * WIDTH // (edge.chunks * rows) * 4


def test_with_room_the_maker_takes_the_rows_that_help_it() -> None:
    tilings, edge = planned(200_000)
    assert tilings["a"].m_parts == 64
    assert slot_bytes(edge, tilings["y"]) > 30_000


@pytest.mark.parametrize("room", [22_000, 16_000])
def test_short_of_room_the_maker_is_cut_to_give_chunks(room: int) -> None:
    tilings, edge = planned(room)
    assert edge.chunks == 8
    assert tilings["a"].m_parts <= 16
    assert slot_bytes(edge, tilings["y"]) <= room


def test_no_more_chunks_are_used_than_may_be() -> None:
    _, edge = planned(22_000, chunks=4)
    assert edge.chunks <= 4
