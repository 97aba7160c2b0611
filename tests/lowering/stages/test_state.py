"""Training state on its way: among its readers' weights, and out before its SRAM is needed."""

from __future__ import annotations

from engine.program import HOST, Transfer
from lowering.cache import StageCache
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.stages.state import leaving_state
from tests.factories.training import step_graph


def out(tensor: str, producer: str, consumer: str = HOST) -> Transfer:
    return Transfer(f"{tensor} out", tensor, producer, (consumer,), (), 1, 1, (1,))


def test_what_leaves_names_the_kernel_that_needs_its_room() -> None:
    order = ("a", "b", "c", "d")
    found = leaving_state([out("x", "a"), out("y", "c"), out("z", "a")], {"x", "y"}, order, 1)
    assert [(t.port, t.until) for t in found] == [("weights", "d"), ("weights", ""), ("host", "")]
    assert leaving_state([out("x", "a")], {"x"}, order, 0)[0].until == "c"


def test_what_another_kernel_reads_stays_on_the_wafer() -> None:
    kept = out("x", "a", "b")
    assert leaving_state([kept], {"x"}, ("a", "b"), 0) == (kept,)


def test_turns_are_planned_once_for_one_graph() -> None:
    cache, config = StageCache(), CompileConfig(mode="streaming")
    graph = step_graph("mlp")
    first = compile_graph(graph, config, cache=cache)
    known = set(cache._entries)
    assert compile_graph(graph, config, cache=cache).program == first.program
    assert set(cache._entries) == known
