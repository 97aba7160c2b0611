"""What must be kept from turn to turn: a bound on paper."""

from __future__ import annotations

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Reshape
from lowering.graph import Graph
from lowering.passes.fuse import fuse
from lowering.stages.kept import LeastLive, least_live, least_own
from lowering.stages.plan import plan_kernels
from tests.factories.graphs import tiny_graph


def chain() -> Graph:
    """x -> a -> b -> y, with `a` read again at the end."""
    return tiny_graph(
        {"x": (8, 4), "w1": (4, 6), "w2": (6, 10), "w3": (10, 6), "a": (8, 6), "b": (8, 10),
         "c": (8, 6), "t": (6, 8), "y": (8, 8)},
        Dot(inputs=("x", "w1"), outputs=("a",)),
        Dot(inputs=("a", "w2"), outputs=("b",)),
        Dot(inputs=("b", "w3"), outputs=("c",)),
        Reshape(inputs=("c",), outputs=("t",), shape=(6, 8)),
        Dot(inputs=("a", "t"), outputs=("y",)),
    )  # fmt: skip


def test_the_fullest_turn_holds_its_weights_its_result_and_what_is_read_later() -> None:
    graph = chain()
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = plan_kernels(fuse(graph), shapes)
    turns = {"a": 24 + 48, "b": 48 + 60 + 80, "c": 48 + 80 + 60 + 48, "y": 48 + 48 + 64}
    assert max(turns, key=lambda name: turns[name]) == "c"
    assert least_live(plan, shapes, "fp16") == LeastLive("c", 2 * turns["c"])
    own = {"a": 24 + 48, "b": 60 + 80, "c": 60 + 48, "y": 64}
    assert least_own(plan, shapes, "fp16") == LeastLive("b", 2 * max(own.values()))
