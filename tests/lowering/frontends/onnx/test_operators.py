"""Each operator of the table on a small input, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lowering.evaluate import reference
from lowering.frontends.onnx import load_onnx
from lowering.frontends.onnx.operators import OPERATORS
from tests.factories.onnx_models import Array, one_node, onnxruntime_outputs, saved
from tests.lowering.frontends.onnx.operator_cases import (
    CASES,
    IMAGE,
    NEWER,
    SEQUENCE,
    TAKEN_APART,
    X,
    ints,
    normal,
    number,
)


@pytest.mark.parametrize(("op", "fed", "fixed", "attributes"), CASES)
def test_operator_agrees_with_onnxruntime(
    op: str, fed: list[Array], fixed: list[Array | None], attributes: dict[str, Any], tmp_path: Path
) -> None:
    model = one_node(op, fed, fixed, opset=NEWER.get(op, 20), **attributes)
    path = saved(model, tmp_path)
    graph = load_onnx(path)
    inputs = {f"x{i}": array for i, array in enumerate(fed)}
    theirs = onnxruntime_outputs(path, inputs)["y0"]
    ours = reference(graph, inputs)["y0"]
    assert ours.shape == graph.values["y0"].shape == theirs.shape
    assert graph.values["y0"].dtype == theirs.dtype.name
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_state_of_every_cell_is_given(tmp_path: Path) -> None:
    weights: list[Array | None] = [normal(1, 16, 3), normal(1, 16, 4)]
    path = saved(one_node("LSTM", [SEQUENCE], weights, outputs=3, hidden_size=4), tmp_path)
    ours, theirs = (
        reference(load_onnx(path), {"x0": SEQUENCE}), onnxruntime_outputs(path, {"x0": SEQUENCE})
    )  # fmt: skip
    for name in ("y0", "y1", "y2"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_places_of_maxima(order: int, tmp_path: Path) -> None:
    attributes: dict[str, Any] = {
        "kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1],
    }  # fmt: skip
    model = one_node("MaxPool", [IMAGE], outputs=2, storage_order=order, **attributes)
    path = saved(model, tmp_path)
    ours = reference(load_onnx(path), {"x0": IMAGE})
    theirs = onnxruntime_outputs(path, {"x0": IMAGE})
    np.testing.assert_array_equal(ours["y1"], theirs["y1"])


def test_ranks_of_top_k(tmp_path: Path) -> None:
    x = np.array([[1, 3, 3, 2]], np.float32)
    path = saved(one_node("TopK", [x], [ints(3)], outputs=2), tmp_path)
    ours = reference(load_onnx(path), {"x0": x})
    assert ours["y0"].tolist() == [[3, 3, 2]]
    assert ours["y1"].tolist() == [[1, 2, 3]]


def test_dropped_elements_come_from_the_seed(tmp_path: Path) -> None:
    model = one_node("Dropout", [X], [number(0.5), np.array(True)], outputs=2, opset=13, seed=3)
    path = saved(model, tmp_path)
    ours, again = (reference(load_onnx(path), {"x0": X}) for _ in range(2))
    kept = ours["y1"]
    assert 0 < kept.sum() < X.size
    np.testing.assert_allclose(ours["y0"], np.where(kept, 2 * X.astype(np.float64), 0))
    np.testing.assert_array_equal(kept, again["y1"])


def test_batch_norm_in_training_blends_its_statistics(tmp_path: Path) -> None:
    fixed: list[Array | None] = [
        np.ones(4, np.float32), np.zeros(4, np.float32), np.zeros(4, np.float32),
        np.ones(4, np.float32),
    ]  # fmt: skip
    model = one_node("BatchNormalization", [IMAGE], fixed, outputs=3, training_mode=1, momentum=0.5)
    ours = reference(load_onnx(saved(model, tmp_path)), {"x0": IMAGE})
    np.testing.assert_allclose(ours["y1"], IMAGE.mean(axis=(0, 2, 3)) / 2, rtol=1e-5)
    np.testing.assert_allclose(ours["y0"].mean(axis=(0, 2, 3)), 0, atol=1e-6)


def test_old_softmax_flattens_from_its_axis(tmp_path: Path) -> None:
    path = saved(one_node("Softmax", [IMAGE], opset=9), tmp_path)
    ours = reference(load_onnx(path), {"x0": IMAGE})["y0"]
    np.testing.assert_allclose(ours, onnxruntime_outputs(path, {"x0": IMAGE})["y0"], rtol=1e-5)
    np.testing.assert_allclose(ours.sum(axis=(1, 2, 3)), 1)


def test_split_gives_every_part(tmp_path: Path) -> None:
    path = saved(one_node("Split", [X], [ints(1, 3)], outputs=2, axis=1), tmp_path)
    ours = reference(load_onnx(path), {"x0": X})
    np.testing.assert_allclose(ours["y0"], X[:, :1])
    np.testing.assert_allclose(ours["y1"], X[:, 1:])


def test_layer_norm_statistics(tmp_path: Path) -> None:
    path = saved(one_node("LayerNormalization", [X], [normal(4)], outputs=3), tmp_path)
    ours, theirs = reference(load_onnx(path), {"x0": X}), onnxruntime_outputs(path, {"x0": X})
    for name in ("y0", "y1", "y2"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4)


def test_newer_operators_follow_their_formulas(tmp_path: Path) -> None:
    x = IMAGE.astype(np.float64)
    swish = saved(one_node("Swish", [IMAGE], opset=24, alpha=2.0), tmp_path)
    np.testing.assert_allclose(
        reference(load_onnx(swish), {"x0": x})["y0"], x / (1 + np.exp(-2 * x)), rtol=1e-6
    )
    ones = [np.ones(6, np.float32)]
    rms = saved(one_node("RMSNormalization", [IMAGE], ones, opset=23, epsilon=0.0), tmp_path)
    length = np.sqrt(np.mean(x * x, axis=-1, keepdims=True))
    np.testing.assert_allclose(reference(load_onnx(rms), {"x0": x})["y0"], x / length, rtol=1e-6)
    fixed: list[Array | None] = [np.ones(4, np.float32), np.zeros(4, np.float32)]
    group = one_node("GroupNormalization", [IMAGE], fixed, opset=21, num_groups=2, epsilon=0.0)
    ours = reference(load_onnx(saved(group, tmp_path)), {"x0": x})["y0"].reshape(2, 2, -1)
    np.testing.assert_allclose(ours.mean(axis=-1), 0, atol=1e-6)
    np.testing.assert_allclose(ours.std(axis=-1), 1, rtol=1e-6)


def test_operator_without_a_rule_is_taken_apart_by_onnx(tmp_path: Path) -> None:
    fed = [normal(1, 2, 3, 4), normal(1, 2, 5, 4), normal(1, 2, 5, 4)]
    path = saved(one_node("Attention", fed, opset=23), tmp_path)
    graph = load_onnx(path)
    ours = reference(graph, {f"x{i}": array for i, array in enumerate(fed)})["y0"]
    scores = fed[0] @ fed[1].transpose(0, 1, 3, 2) / 2
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(ours, weights @ fed[2], rtol=1e-5, atol=1e-6)
    parts = [node for node in graph.nodes if node.kind != "Identity"]
    assert {node.kind for node in parts} == {"Attention"}
    assert {node.origin for node in parts} == {("the_Attention",)}


def test_most_operators_of_the_table_are_tested() -> None:
    elsewhere = {"Split", "Constant", "ConstantOfShape", "Shape", "Size", "Range"}
    newer = {"GroupNormalization", "RMSNormalization", "Swish", "TensorScatter", "TopK"}
    control = {"If", "Loop", "Scan"}
    optimizers = {"Adam", "Adagrad", "Momentum"}
    foreign = {"com.microsoft.MatMulNBits"}  # tests/lowering/test_integer_weights.py
    tested = {case[0] for case in CASES} | elsewhere | newer | control | optimizers | foreign
    assert set(OPERATORS) == (tested | {"Scatter"}) - TAKEN_APART
