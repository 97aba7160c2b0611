"""Tilings of kernels that take turns: an operand comes in chunks however its maker was cut."""

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


def planned(room: int, chunks: int, *, turns: bool = True) -> tuple[dict[str, Tiling], Edge]:
    """Tilings by kernel and the edge between the two, for tiles of `room` bytes."""
    graph = wide_pair()
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = plan_kernels(fuse(graph), shapes)
    config = CompileConfig(machine=generic_mesh(64, 16))
    tilings = turn_tilings(plan, shapes, config, chunks, room)
    models = plan.models
    edges = plan_edges(plan.drafts, models, tilings, shapes, graph.outputs, chunks, turns=turns)
    return tilings, next(edge for edge in edges if edge.tensor == "a")


def slot_bytes(edge: Edge, tiling: Tiling) -> int:
    """Bytes a row of PEs keeps of the operand: two chunks, or all of it."""
    rows = tiling.m_parts * tiling.k_parts
    return min(2, edge.chunks) * 128 * WIDTH // (edge.chunks * rows) * 4


def test_a_maker_on_all_rows_still_feeds_its_reader_in_chunks() -> None:
    tilings, edge = planned(40_000, 8)
    assert tilings["a"].m_parts == 64
    assert (edge.chunks, edge.whole) == (8, False)
    assert planned(40_000, 8, turns=False)[1].chunks <= 2


@pytest.mark.parametrize(("room", "chunks"), [(22_000, 8), (9_000, 32), (6_000, 64)])
def test_finer_chunks_let_a_tile_take_less(room: int, chunks: int) -> None:
    tilings, edge = planned(room, chunks)
    assert slot_bytes(edge, tilings["y"]) <= room
    assert slot_bytes(*_whole(edge, tilings["y"])) > room


def _whole(edge: Edge, tiling: Tiling) -> tuple[Edge, Tiling]:
    return Edge(edge.tensor, edge.producer, edge.consumer, edge.arrival, 1, whole=True), tiling


def test_what_the_host_gives_comes_as_a_whole() -> None:
    graph = wide_pair()
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = plan_kernels(fuse(graph), shapes)
    tilings = turn_tilings(plan, shapes, CompileConfig(machine=generic_mesh(64, 16)), 8, 40_000)
    edges = plan_edges(plan.drafts, plan.models, tilings, shapes, graph.outputs, 8, turns=True)
    assert [edge.chunks for edge in edges if edge.tensor == "x"] == [1]
