"""Mixtures that exporters write as look-ups: joined where the form is exact, else left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.moe.spec import Moe
from engine.kernels.move.spec import Reshape, Slice
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Reduce, Softmax, TopK
from engine.kernels.spec import Operation
from engine.run import execute
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.evaluate import default_inputs, reference
from lowering.frontends.onnx import load_onnx
from lowering.graph import Graph
from lowering.machine_file import find_machine
from lowering.passes import JoinExperts, run_passes
from tests.factories.graphs import MODELS

PATH = MODELS / "mixtral.onnx"


def lowered(*, values: bool = True) -> Graph:
    """Return the small Mixtral after all passes but the one tested."""
    return run_passes(load_onnx(PATH, values=values), ("join_experts",))


def mixtures(graph: Graph) -> list[Moe]:
    return [node.op for node in graph.nodes if isinstance(node.op, Moe)]


def edited(graph: Graph, name: str, op: Operation) -> Graph:
    """Return the graph with the operation that gives `name` replaced."""
    nodes = tuple(replace(node, op=op) if name in node.op.outputs else node for node in graph.nodes)
    return replace(graph, nodes=nodes)


def maker(graph: Graph, name: str) -> Operation:
    return next(node.op for node in graph.nodes if name in node.op.outputs)


def test_two_layers_become_two_mixtures_of_equal_values() -> None:
    graph = lowered()
    joined = JoinExperts().run(graph)
    found = mixtures(joined)
    assert [(op.active, op.fn, op.normalize, op.outputs) for op in found] == [
        (2, "silu", True, ("sum_2",)), (2, "silu", True, ("sum_4",)),
    ]  # fmt: skip
    inputs = default_inputs(graph, 5)
    before, after = (reference(each, inputs, ("sum_2",)) for each in (graph, joined))
    for name, array in before.items():
        np.testing.assert_allclose(after[name], array, rtol=1e-9, atol=1e-9)


def test_stacks_are_turned_to_what_a_mixture_reads() -> None:
    joined = JoinExperts().run(lowered())
    shapes = [joined.values[name].shape for name in mixtures(joined)[0].inputs]
    assert shapes == [(16, 64), (64, 4), (4, 64, 96), (4, 64, 96), (4, 96, 64)]


def test_weights_without_numbers_are_joined_the_same_way() -> None:
    graph = lowered()
    stacks = {name for name, array in graph.constants.items() if array.ndim == 3}
    known = {n: a for n, a in graph.constants.items() if n not in stacks}
    shaped = replace(graph, constants=known, unknown=frozenset(stacks))
    joined = JoinExperts().run(shaped)
    assert len(mixtures(joined)) == 2
    assert set(mixtures(joined)[0].inputs[2:]) <= joined.unknown


def spoiled() -> list[tuple[str, Operation]]:
    """Operations of the first layer, each changed so that it is no mixture of this form."""
    graph = lowered()
    chosen, scores = maker(graph, "getitem"), maker(graph, "softmax_1")
    total, last = maker(graph, "sum_1"), maker(graph, "sum_2")
    first, gate = maker(graph, "split_split_0"), maker(graph, "val_237")
    assert isinstance(chosen, TopK)
    assert isinstance(scores, Softmax)
    assert isinstance(total, Reduce)
    assert isinstance(last, Reduce)
    assert isinstance(first, Slice)
    assert isinstance(gate, Map)
    return [
        ("getitem", replace(chosen, largest=False)),
        ("softmax_1", replace(scores, log=True)),
        ("sum_1", replace(total, fn="max")),
        ("sum_2", replace(last, fn="mean")),
        ("split_split_0", replace(first, ranges=((0, 32, 1), (96, 192, 1)))),
        ("val_237", replace(gate, fn="tanh")),
        ("val_237", replace(gate, inputs=("split_split_1",))),
    ]


@pytest.mark.parametrize("case", range(7))
def test_other_forms_are_left_as_they_are(case: int) -> None:
    name, op = spoiled()[case]
    assert len(mixtures(JoinExperts().run(edited(lowered(), name, op)))) == 1


def test_another_reader_of_the_choice_keeps_it() -> None:
    graph = lowered()
    shape = graph.values["softmax_1"].shape
    again = Reshape(inputs=("softmax_1",), outputs=("scores",), shape=shape)
    node = replace(graph.nodes[0], name="again", op=again)
    value = replace(graph.values["softmax_1"], name="scores")
    more = replace(
        graph, nodes=(*graph.nodes, node), outputs=(*graph.outputs, "scores"),
        values={**graph.values, "scores": value},
    )  # fmt: skip
    joined = JoinExperts().run(more)
    assert len(mixtures(joined)) == 2
    assert any("softmax_1" in each.op.outputs for each in joined.nodes)


def test_joined_experts_take_fewer_pes_and_cycles_and_follow_the_routing() -> None:
    graph, spans, areas = load_onnx(PATH), [], []
    for choice in ("off", "on"):
        config = CompileConfig(machine=find_machine("wse2"), mode="pipeline")
        made = compile_graph(graph, apply_knob(config, "join_experts", choice))
        execution = execute(made.program, made.store)
        assert execution.ledger.ok
        spans.append(execution.timeline.makespan)
        areas.append(sum(kernel.region.area for kernel in made.program.kernels))
    assert areas[1] < areas[0] / 4
    assert spans[1] < spans[0]
    inputs = default_inputs(graph, 5)
    routing = run_values(made.program, made.store, inputs).routing
    routed = compile_graph(graph, made.config, routing=routing)
    execution = execute(routed.program, routed.store)
    assert execution.ledger.ok
    assert execution.timeline.makespan > spans[1]
    experts = next(kernel for kernel in routed.program.kernels if kernel.id == "sum_2").experts
    assert np.sum(experts) == 16 * 2
