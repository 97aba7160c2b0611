"""Outputs that depend on no input are held and sent by kernels."""

from __future__ import annotations

import numpy as np

from engine.kernels.pointwise.spec import Map
from engine.machine import generic_mesh
from engine.run import execute
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.frontends.builder import GraphBuilder
from lowering.graph import Graph
from lowering.passes import HoldConstantOutputs


def graph(shape: tuple[int, ...]) -> Graph:
    builder = GraphBuilder()
    builder.add_value("x", (3,), "float32")
    builder.add_constant("fixed", np.full(shape, 7, np.int64))
    op = Map(inputs=("x",), outputs=("y",), fn="relu")
    builder.emit(op, "Relu", "relu", "relu")
    return builder.finish("held", ["x"], ["y", "fixed"])


def test_constant_output_gets_a_copy_under_its_name() -> None:
    held = HoldConstantOutputs().run(graph((2,)))
    assert [node.op.outputs for node in held.nodes] == [("y",), ("fixed",)]
    assert held.constants["fixed/held"].tolist() == [7, 7]
    assert "fixed" not in held.constants


def test_graph_without_constant_outputs_is_left_alone() -> None:
    whole = HoldConstantOutputs().run(graph((2,)))
    assert HoldConstantOutputs().run(whole) is whole


def test_mesh_gives_constants_scalars_and_empty_tensors() -> None:
    for shape in ((2,), (), (0, 3)):
        config = CompileConfig(machine=generic_mesh(8, 8))
        made = compile_graph(graph(shape), config)
        assert execute(made.program, made.store).ledger.ok
        outputs = run_values(made.program, made.store, {"x": np.ones(3, np.float32)}).outputs()
        assert outputs["fixed"].shape == shape
        assert outputs["fixed"].dtype == np.int64
        assert (outputs["fixed"] == 7).all()
