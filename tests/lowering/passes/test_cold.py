"""Embedding tables outside: rows come from the host, values stay, the table takes no room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather
from engine.kernels.move.spec import Reshape
from engine.kernels.pointwise.spec import Map
from engine.machine import generic_mesh
from engine.program import HOST
from engine.run import execute
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.evaluate import default_inputs
from lowering.frontends.builder import GraphBuilder
from lowering.graph import Graph
from lowering.passes.cold import keep_tables_outside
from tests.factories.graphs import model_graph
from tests.factories.training import step_graph

MESH = CompileConfig(machine=generic_mesh(48, 48), samples=2)
ROWS, WIDTH, TOKENS = 1000, 32, 12


def look_up() -> Graph:
    """Rows of a table of 1000 x 32, at indices whose shape the model changes first, doubled."""
    builder = GraphBuilder()
    builder.add_value("ids", (3, 4), "int64")
    table = np.random.default_rng(0).standard_normal((ROWS, WIDTH)).astype(np.float32)
    builder.add_constant("table", table)
    for op in (
        Reshape(inputs=("ids",), outputs=("flat",), shape=(TOKENS,)),
        Gather(inputs=("table", "flat"), outputs=("rows",), axis=0),
        Map(inputs=("rows", "rows"), outputs=("y",), fn="add"),
    ):
        builder.emit(op, type(op).__name__, op.outputs[0], op.outputs[0])
    return builder.finish("look-up", ["ids"], ["y"])


@pytest.mark.parametrize("mode", ["pipeline", "streaming"])
def test_rows_come_from_the_host_and_the_table_stays_there(mode: str) -> None:
    graph = look_up()
    config = apply_knob(replace(MESH, mode=mode), "embedding", "host")
    made = compile_graph(graph, config)
    assert [work.id for work in made.program.outside] == ["rows"]
    assert all("table" not in kernel.weights for kernel in made.program.kernels)
    brought = [t for t in made.program.transfers if t.producer == HOST]
    assert [t.tensor for t in brought] == ["rows"]
    assert brought[0].legs[0].words * brought[0].chunks == TOKENS * WIDTH
    assert made.report.notes[0] == (
        "embedding host: 1 table(s) of 0.128 MB stay outside, a sample brings rows of 0.001536 MB"
    )
    run = execute(made.program, made.store, every_step=True)
    assert run.ledger.ok
    inputs = {"ids": np.arange(12).reshape(3, 4) * 80}
    found = run_values(made.program, made.store, inputs).outputs()["y"]
    np.testing.assert_array_equal(found, 2 * graph.constants["table"][np.arange(12) * 80])


@pytest.mark.parametrize("mode", ["pipeline", "streaming"])
@pytest.mark.parametrize("name", ["bert", "gpt2_2l"])
def test_models_give_the_same_values(name: str, mode: str) -> None:
    graph = model_graph(name)
    inputs = default_inputs(graph)
    outputs = []
    for place in ("wafer", "host"):
        config = replace(MESH, mode=mode, embedding=place, machine=generic_mesh(64, 64))
        made = compile_graph(graph, config)
        assert bool(made.program.outside) == (place == "host")
        outputs.append(run_values(made.program, made.store, inputs).outputs())
    for output in graph.outputs:
        scale = np.abs(outputs[0][output]).max()
        assert np.abs(outputs[1][output] - outputs[0][output]).max() <= 1e-5 * scale


def test_the_table_of_a_training_step_is_an_input_and_stays_outside_too() -> None:
    found = keep_tables_outside(step_graph("gpt2_2l"))
    assert [draft.spec.main_op.inputs[0] for draft in found.outside] == ["plist_0"]


def test_indices_made_of_what_the_wafer_computes_keep_the_table_there() -> None:
    builder = GraphBuilder()
    builder.add_value("x", (4, 4), "float32")
    builder.add_constant("w", np.ones((4, 4), np.float32))
    builder.add_constant("table", np.ones((10, 4), np.float32))
    for op in (
        Dot(inputs=("x", "w"), outputs=("d",)),
        Map(inputs=("d",), outputs=("i",), fn="cast", dtype="int64"),
        Gather(inputs=("table", "i"), outputs=("rows",), axis=0),
        Map(inputs=("rows", "rows"), outputs=("y",), fn="add"),
    ):
        builder.emit(op, type(op).__name__, op.outputs[0], op.outputs[0])
    graph = builder.finish("own", ["x"], ["y"])
    found = keep_tables_outside(graph)
    assert found.graph is graph
    assert found.sentence("fp32").startswith("embedding host: nothing changed")
