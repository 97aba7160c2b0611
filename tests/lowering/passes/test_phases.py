"""Phases of a training step one can check by eye: y = x w, loss = sum(y), w' = w - x^T 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Expand, Transpose
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Reduce
from engine.kernels.spec import Operation
from lowering.evaluate import default_inputs
from lowering.frontends.builder import GraphBuilder
from lowering.graph import Graph
from lowering.passes.fuse import fuse
from lowering.passes.phases import optimizer_inputs, trained_state, training_phases
from tests.factories.training import step_graph, step_names


def step() -> Graph:
    builder = GraphBuilder()
    builder.add_value("x", (4, 3), "float32")
    builder.add_value("w", (3, 2), "float32")
    builder.add_constant("one", np.ones((), np.float32))
    builder.add_constant("rate", np.array(0.1, np.float32))
    ops: list[Operation] = [
        Dot(inputs=("x", "w"), outputs=("y",)),
        Map(inputs=("y",), outputs=("a",), fn="tanh"),
        Reduce(inputs=("a",), outputs=("loss",), fn="sum", axes=(0, 1), keepdims=False),
        Map(inputs=("loss", "one"), outputs=("seed",), fn="mul"),
        Expand(inputs=("seed",), outputs=("dy",), shape=(4, 2)),
        Transpose(inputs=("x",), outputs=("xt",), perm=(1, 0)),
        Dot(inputs=("xt", "dy"), outputs=("dw",)),
        Map(inputs=("dw", "rate"), outputs=("move",), fn="mul"),
        Map(inputs=("w", "move"), outputs=("new",), fn="sub"),
    ]
    for op in ops:
        builder.emit(op, type(op).__name__, op.outputs[0], op.outputs[0])
    return builder.finish("step", ["x", "w"], ["loss", "new"])


def test_each_value_has_the_phase_of_its_use() -> None:
    assert training_phases(step()) == {
        "y": "forward", "a": "loss", "loss": "loss", "seed": "backward", "dy": "backward",
        "xt": "backward", "dw": "backward", "move": "optimizer", "new": "optimizer",
    }  # fmt: skip


def test_inference_has_no_phases() -> None:
    graph = step()
    assert training_phases(replace(graph, outputs=("y",))) == {}
    assert training_phases(replace(graph, outputs=("loss",))) == {}


def test_inputs_beside_the_loss_belong_to_the_optimizer() -> None:
    assert optimizer_inputs(step()) == set()
    builder = GraphBuilder()
    for name in ("w", "m"):
        builder.add_value(name, (3,), "float32")
    for op in (
        Reduce(inputs=("w",), outputs=("loss",), fn="sum", axes=(0,), keepdims=False),
        Map(inputs=("m", "loss"), outputs=("m2",), fn="add"),
        Map(inputs=("w", "m2"), outputs=("w2",), fn="sub"),
    ):
        builder.emit(op, type(op).__name__, op.outputs[0], op.outputs[0])
    graph = builder.finish("step", ["w", "m"], ["loss", "w2", "m2"])
    assert optimizer_inputs(graph) == {"m"}
    assert default_inputs(graph)["m"].min() > 0


def test_kernels_end_where_a_phase_ends() -> None:
    found = [(draft.phase, draft.spec.main_op.outputs[0]) for draft in fuse(step())]
    assert [phase for phase, _ in found] == [
        "forward", "loss", "loss", "backward", "backward", "backward", "optimizer",
    ]  # fmt: skip


def test_state_is_what_a_step_replaces() -> None:
    assert trained_state(step()) == (frozenset({"w"}), frozenset({"new"}))
    assert trained_state(replace(step(), outputs=("loss",))) == (frozenset(), frozenset())


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l", "resnet_s"])
def test_state_of_a_captured_step_is_its_weights_moments_and_count(name: str) -> None:
    graph = step_graph(name)
    names = step_names(graph)
    assert trained_state(graph) == (frozenset(names.state), frozenset(names.new_state))


def test_work_done_again_is_its_own_phase() -> None:
    graph = step()
    nodes = [*graph.nodes]
    again = replace(nodes[1], name="a2", again=True, op=replace(nodes[1].op, outputs=("a2",)))
    values = {**graph.values, "a2": replace(graph.values["a"], name="a2")}
    phases = training_phases(replace(graph, nodes=(*nodes, again), values=values))
    assert phases["a2"] == "recompute"
    assert phases["a"] == "loss"
