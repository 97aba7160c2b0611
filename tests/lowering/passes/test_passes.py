"""Each pass on a graph of a few nodes: what it takes out, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper

from engine.kernels.reduce.spec import Reduce
from engine.kernels.window.spec import Window
from lowering.evaluate import reference
from lowering.frontends.onnx import load_onnx
from lowering.graph import Graph
from lowering.passes import Canonicalise, Fold, FoldBatchNorm, run_passes
from tests.factories.graphs import tiny_graph
from tests.factories.onnx_models import make_model, saved

Array = np.ndarray[Any, np.dtype[Any]]


def imported(
    folder: Path,
    nodes: list[NodeProto],
    shape: tuple[int, ...],
    weights: dict[str, Array] | None = None,
) -> Graph:
    model: onnx.ModelProto = make_model(nodes, {"x": shape}, {"y": None}, weights)
    return load_onnx(saved(model, folder))


def same_values(before: Graph, after: Graph) -> None:
    x = np.random.default_rng(1).standard_normal(before.values["x"].shape)
    ours, theirs = reference(after, {"x": x})["y"], reference(before, {"x": x})["y"]
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def names(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


def test_double_transpose_vanishes_and_the_output_keeps_its_name(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Transpose", ["r"], ["t"], perm=[1, 0]),
        helper.make_node("Transpose", ["t"], ["y"], perm=[1, 0]),
    ]
    graph = imported(tmp_path, nodes, (2, 3))
    after = Canonicalise().run(graph)
    assert names(graph) == ["Map", "Transpose", "Transpose"]
    assert names(after) == ["Map"]
    assert after.outputs == ("y",)
    assert set(after.values) == {"x", "y"}
    same_values(graph, after)


def test_two_transposes_become_one_with_both_origins(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2], name="first"),
        helper.make_node("Transpose", ["t"], ["y"], perm=[0, 2, 1], name="second"),
    ]
    graph = imported(tmp_path, nodes, (2, 3, 4))
    after = Canonicalise().run(graph)
    assert [node.origin for node in after.nodes] == [("first", "second")]
    same_values(graph, after)


@pytest.mark.parametrize(
    ("op", "number", "left"), [("Mul", 1, 1), ("Add", 0, 1), ("Sub", 0, 1), ("Mul", 2, 2)]
)
def test_neutral_arithmetic_vanishes(tmp_path: Path, op: str, number: float, left: int) -> None:
    weights: dict[str, Array] = {"c": np.array([number], np.float32)}
    nodes = [helper.make_node(op, ["x", "c"], ["s"]), helper.make_node("Exp", ["s"], ["y"])]
    graph = imported(tmp_path, nodes, (2, 3), weights)
    after = Canonicalise().run(graph)
    assert len(after.nodes) == left
    same_values(graph, after)


def test_multiplication_that_broadcasts_stays(tmp_path: Path) -> None:
    weights: dict[str, Array] = {"c": np.ones((4, 1), np.float32)}
    nodes = [helper.make_node("Mul", ["x", "c"], ["y"])]
    assert len(Canonicalise().run(imported(tmp_path, nodes, (1, 3), weights)).nodes) == 1


def test_copy_of_an_input_stays(tmp_path: Path) -> None:
    graph = imported(tmp_path, [helper.make_node("Identity", ["x"], ["y"])], (2,))
    assert len(Canonicalise().run(graph).nodes) == 1


def conv_and_norm(folder: Path, *, bias: bool) -> Graph:
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((4, 3, 3, 3)), "b": rng.standard_normal(4)}
    for name in ("scale", "shift", "mean"):
        weights[name] = rng.standard_normal(4)
    weights["var"] = rng.uniform(0.5, 1.5, 4)
    narrow = {name: array.astype(np.float32) for name, array in weights.items()}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"] if bias else ["x", "w"], ["c"], name="conv"),
        helper.make_node(
            "BatchNormalization", ["c", "scale", "shift", "mean", "var"], ["y"], name="norm"
        ),
    ]
    return imported(folder, nodes, (1, 3, 5, 5), narrow)


@pytest.mark.parametrize("bias", [False, True])
def test_batch_norm_folds_into_the_convolution(tmp_path: Path, bias: bool) -> None:
    graph = conv_and_norm(tmp_path, bias=bias)
    after = FoldBatchNorm().run(graph)
    assert len(graph.nodes) - len(after.nodes) == 1
    assert after.nodes[0].origin == ("conv", "norm")
    assert "w" not in after.constants
    same_values(graph, after)


def test_batch_norm_stays_where_the_convolution_is_read_twice(tmp_path: Path) -> None:
    weights: dict[str, Array] = {
        "w": np.ones((2, 1, 1, 1), np.float32),
        "f": np.array([2, 3], np.float32).reshape(2, 1, 1),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("Mul", ["c", "f"], ["m"]),
        helper.make_node("Add", ["m", "c"], ["y"]),
    ]
    graph = imported(tmp_path, nodes, (1, 1, 2, 2), weights)
    assert FoldBatchNorm().run(graph).nodes == graph.nodes


def test_fold_computes_what_depends_on_no_input(tmp_path: Path) -> None:
    weights: dict[str, Array] = {"a": np.ones((2, 2), np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "a"], ["y"])]
    graph = imported(tmp_path, nodes, (2, 2), weights)
    fed_by_constant = Graph(
        name="g",
        inputs=(),
        outputs=("y",),
        nodes=graph.nodes,
        values=graph.values,
        constants={**graph.constants, "x": np.full((2, 2), 3, np.float32)},
    )
    after = Fold().run(fed_by_constant)
    assert after.nodes == ()
    assert after.constants["y"].tolist() == [[6, 6], [6, 6]]
    assert not after.constants["y"].flags.writeable
    assert Fold(max_bytes=8).run(fed_by_constant).nodes == graph.nodes


def test_optional_passes_can_be_left_out() -> None:
    window = Window(
        inputs=("x",), outputs=("y",), fn="mean", kernel=(4, 4), strides=(1, 1),
        pads=((0, 0), (0, 0)), dilations=(1, 1),
    )  # fmt: skip
    graph = tiny_graph({"x": (1, 3, 4, 4), "y": (1, 3, 1, 1)}, window)
    assert isinstance(run_passes(graph).nodes[0].op, Reduce)
    assert run_passes(graph, ("global_pool",)).nodes[0].op == window
    assert isinstance(run_passes(graph, ("fold_batch_norm",)).nodes[0].op, Reduce)
