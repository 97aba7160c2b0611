"""Control flow that is known at compile time is unrolled; what data decides is refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from lowering.errors import UnsupportedOpError
from lowering.evaluate import reference
from lowering.frontends.onnx import load_onnx
from tests.factories.onnx_models import onnxruntime_outputs, saved

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def info(name: str, shape: list[int] | None, code: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, code, shape)


def constant(name: str, value: Any, dtype: str) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def model_of(node: onnx.NodeProto, outputs: list[Any], weights: list[Any]) -> onnx.ModelProto:
    graph = helper.make_graph([node], "control", [info("x", [2, 3])], outputs, weights)
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def branch(op: str) -> onnx.GraphProto:
    nodes = [helper.make_node(op, ["x", "x"], ["made"])]
    return helper.make_graph(nodes, op, [], [info("made", [2, 3])])


def if_model(weights: list[Any], condition: str) -> onnx.ModelProto:
    node = helper.make_node("If", [condition], ["y"], name="choice",
                            then_branch=branch("Add"), else_branch=branch("Mul"))  # fmt: skip
    return model_of(node, [info("y", [2, 3])], weights)


@pytest.mark.parametrize(("taken", "expected"), [(True, X + X), (False, X * X)])
def test_constant_condition_takes_one_branch(
    taken: bool, expected: np.ndarray, tmp_path: Path
) -> None:
    path = saved(if_model([constant("c", taken, "bool")], "c"), tmp_path)
    graph = load_onnx(path)
    np.testing.assert_allclose(reference(graph, {"x": X})["y"], expected)
    assert len([node for node in graph.nodes if node.kind in ("Add", "Mul")]) == 1
    assert graph.nodes[0].name.startswith("choice/")


def loop_model(trips: Any, go_on: str = "c") -> onnx.ModelProto:
    """y = x + 0 + 1 + ...; each round's sum is kept as well."""
    nodes = [
        helper.make_node("Cast", ["i"], ["step"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["v", "step"], ["next"]),
        helper.make_node("Identity", ["next"], ["kept"]),
        helper.make_node("Less", ["i", "last"], ["more"]),
    ]
    body = helper.make_graph(
        nodes, "body",
        [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("v", [2, 3])],
        [info("more", [], TensorProto.BOOL), info("next", [2, 3]), info("kept", [2, 3])],
        [constant("last", 2, "int64")],
    )  # fmt: skip
    node = helper.make_node("Loop", ["m", go_on, "x"], ["y", "all"], name="rounds", body=body)
    weights = [constant("m", trips, "int64"), constant("c", True, "bool")]
    return model_of(node, [info("y", [2, 3]), info("all", [None, 2, 3])], weights)  # type: ignore[list-item]


@pytest.mark.parametrize("trips", [1, 2, 9])
def test_loop_runs_until_its_count_or_condition_ends(trips: int, tmp_path: Path) -> None:
    path = saved(loop_model(trips), tmp_path)
    ours, theirs = reference(load_onnx(path), {"x": X}), onnxruntime_outputs(path, {"x": X})
    assert len(ours["all"]) == min(trips, 4 - 1)
    for name in ("y", "all"):
        np.testing.assert_allclose(ours[name], theirs[name])


def scan_model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Add", ["s", "row"], ["total"]),
        helper.make_node("Neg", ["total"], ["out"]),
    ]
    body = helper.make_graph(nodes, "body", [info("s", [2]), info("row", [2])],
                             [info("total", [2]), info("out", [2])])  # fmt: skip
    node = helper.make_node("Scan", ["zero", "x"], ["end", "y"], num_scan_inputs=1,
                            scan_input_axes=[1], scan_output_axes=[1], body=body)  # fmt: skip
    outputs = [info("end", [2]), info("y", [2, 3])]
    return model_of(node, outputs, [constant("zero", [0, 0], "float32")])


def test_scan_walks_an_axis(tmp_path: Path) -> None:
    ours = reference(load_onnx(saved(scan_model(), tmp_path)), {"x": X})
    np.testing.assert_allclose(ours["end"], X.sum(axis=1))
    np.testing.assert_allclose(ours["y"], -X.cumsum(axis=1))


def test_branch_that_data_chooses_is_refused_by_name(tmp_path: Path) -> None:
    model = if_model([], "c")
    total = helper.make_node("ReduceMax", ["x"], ["top"], name="top", keepdims=0)
    positive = helper.make_node("Cast", ["top"], ["c"], name="positive", to=TensorProto.BOOL)
    nodes = [total, positive, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    with pytest.raises(UnsupportedOpError, match=r"If: 1 node \(choice\), its condition") as caught:
        load_onnx(saved(model, tmp_path))
    assert caught.value.ops[0].inputs == ("x",)


def test_body_with_an_unknown_operator_says_which(tmp_path: Path) -> None:
    model = if_model([constant("c", True, "bool")], "c")
    unique = helper.make_node("Unique", ["x"], ["made"])
    model.graph.node[0].attribute[0].g.node[0].CopyFrom(unique)
    model.graph.node[0].attribute[1].g.node[0].CopyFrom(unique)
    with pytest.raises(UnsupportedOpError, match="its part Unique is not covered"):
        load_onnx(saved(model, tmp_path))


def test_input_may_be_fixed_to_be_part_of_the_program(tmp_path: Path) -> None:
    node = helper.make_node("Reshape", ["x", "to"], ["y"])
    graph = helper.make_graph([node], "g", [info("x", [2, 3]), info("to", [1], TensorProto.INT64)],
                              [info("y", None)])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
    path = saved(model, tmp_path)
    with pytest.raises(UnsupportedOpError, match="its shape") as caught:
        load_onnx(path)
    assert caught.value.ops[0].inputs == ("to",)
    bound = load_onnx(path, bound={"to": np.array([6], np.int64)})
    assert bound.inputs == ("x",)
    assert bound.values["y"].shape == (6,)
