"""Edges: how operands enter kernels, in how many chunks, and what a convolution adds."""

from __future__ import annotations

import pytest

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Softmax
from engine.program import HOST, Tiling
from lowering.graph import Graph
from lowering.passes.fuse import fuse
from lowering.stages.edges import Edge, plan_edges
from lowering.stages.plan import plan_kernels
from tests.factories.graphs import compiled_model, tiny_graph


def edges_of(
    graph: Graph, tilings: tuple[Tiling, ...], max_chunks: int = 8
) -> dict[tuple[str, str], Edge]:
    """Edges by (tensor, consumer) with these tilings, one a kernel."""
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = plan_kernels(fuse(graph), shapes)
    cuts = {draft.name: tiling for draft, tiling in zip(plan.drafts, tilings, strict=True)}
    found = plan_edges(plan.drafts, plan.models, cuts, shapes, graph.outputs, max_chunks)
    return {(edge.tensor, edge.consumer): edge for edge in found}


def two_products(rows: int = 24) -> Graph:
    return tiny_graph(
        {"x": (rows, 4), "w1": (4, 6), "w2": (6, 8), "a": (rows, 6), "y": (rows, 8)},
        Dot(inputs=("x", "w1"), outputs=("a",)),
        Dot(inputs=("a", "w2"), outputs=("y",)),
    )


def test_chain_of_products_passes_rows_in_order() -> None:
    found = edges_of(two_products(), (Tiling(1, 1, 1), Tiling(1, 2, 1)))
    edge = found["a", "y"]
    assert (edge.producer, edge.chunks, edge.whole) == ("a", 8, False)
    assert (edge.arrival.mode, edge.arrival.ordered) == ("rows", True)
    assert found["x", "a"].producer == HOST
    assert found["y", HOST].chunks == 1


@pytest.mark.parametrize(
    ("rows", "parts", "most", "chunks"),
    [
        (24, (1, 1), 8, 8),
        (24, (1, 1), 5, 4),
        (24, (1, 1), 1, 1),
        (24, (4, 1), 8, 6),  # a chunk of 4 rows over 4 groups of rows
        (24, (4, 6), 8, 2),  # 12 rows over 4 and over 6
        (7, (1, 1), 8, 7),
        (11, (1, 1), 8, 1),
        (24, (5, 1), 8, 1),
    ],
)
def test_chunks_divide_the_positions_and_the_rows_of_both_ends(
    rows: int, parts: tuple[int, int], most: int, chunks: int
) -> None:
    tilings = tuple(Tiling(part, 1, 1) for part in parts)
    assert edges_of(two_products(rows), tilings, most)["a", "y"].chunks == chunks


def attention() -> Graph:
    shapes = {"q": (12, 4), "k": (12, 4), "w": (4, 12), "a": (12, 12), "s": (12, 12), "y": (12, 4)}
    return tiny_graph(
        shapes,
        Dot(inputs=("q", "w"), outputs=("a",)),
        Softmax(inputs=("a",), outputs=("s",), axis=1),
        Dot(inputs=("s", "k"), outputs=("y",)),
    )


def test_second_operand_is_held_whole_once_a_group_of_rows() -> None:
    found = edges_of(attention(), (Tiling(1, 1, 1), Tiling(3, 2, 2)))
    held = found["k", "y"]
    assert (held.arrival.mode, held.arrival.copies, held.chunks) == ("held", 3, 1)
    assert held.whole
    streamed = found["s", "y"]
    assert (streamed.arrival.mode, streamed.chunks) == ("rows", 4)


def test_residual_arrives_on_the_grid_of_results() -> None:
    graph = tiny_graph(
        {"x": (8, 6), "w1": (6, 6), "w2": (6, 6), "a": (8, 6), "b": (8, 6), "y": (8, 6)},
        Dot(inputs=("x", "w1"), outputs=("a",)),
        Dot(inputs=("a", "w2"), outputs=("b",)),
        Map(inputs=("b", "a"), outputs=("y",), fn="add"),
    )
    # `a` is both the streamed operand and the residual of one kernel: one edge, as rows
    (name,) = {consumer for tensor, consumer in edges_of(graph, (Tiling(1, 1, 1),) * 2)
               if tensor == "a"}  # fmt: skip
    assert edges_of(graph, (Tiling(1, 1, 1),) * 2)["a", name].arrival.mode == "rows"
    compiled = compiled_model("demo-transformer", "wse2")
    skip = next(t for t in compiled.program.transfers if t.tensor == "embed")
    assert skip.legs[-1].kind in ("shift", "broadcast")


def convolutions(kernel: int, stride: int) -> Graph:
    side = 16 // stride
    pad = (kernel - 1) // 2
    return tiny_graph(
        {"x": (1, 2, 16, 16), "w1": (3, 2, 1, 1), "w2": (4, 3, kernel, kernel),
         "a": (1, 3, 16, 16), "y": (1, 4, side, side)},
        Conv(inputs=("x", "w1"), outputs=("a",), strides=(1, 1), pads=((0, 0), (0, 0)),
             dilations=(1, 1)),
        Conv(inputs=("a", "w2"), outputs=("y",), strides=(stride, stride),
             pads=((pad, pad), (pad, pad)), dilations=(1, 1)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "stride", "m_parts", "halo", "extra"),
    [
        (1, 1, 4, 0.0, 0.0),
        (3, 1, 1, 2 / 16, 0.0),
        (3, 1, 4, 2 / 16, 3 * 2 / 16),  # two rows more at each of three seams
        (3, 2, 4, 1 / 16, 3 * 1 / 16),
        (5, 1, 2, 4 / 16, 4 / 16),
        (33, 1, 4, 1.0, 3.0),  # never more than the whole map, at each of three seams
    ],
)
def test_overlapping_windows_need_rows_of_their_neighbours(
    kernel: int, stride: int, m_parts: int, halo: float, extra: float
) -> None:
    edge = edges_of(convolutions(kernel, stride), (Tiling(1, 1, 1), Tiling(m_parts, 1, 1)))[
        "a", "y"
    ]
    assert edge.halo == pytest.approx(halo)
    assert edge.arrival.halo == pytest.approx(extra)


def test_every_read_of_a_model_has_one_edge() -> None:
    program = compiled_model("bert", "wse2").program
    reads = sorted((name, kernel.id) for kernel in program.kernels for name in kernel.reads)
    into = sorted((t.tensor, c) for t in program.transfers for c in t.consumers if c != HOST)
    assert into == reads
