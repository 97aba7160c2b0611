"""Each operator of the table on a small input, against onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lowering.evaluate import reference
from lowering.frontends.onnx import load_onnx, supported_operators
from tests.factories.onnx_models import Array, one_node, onnxruntime_outputs, saved


def normal(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def ints(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


def number(value: float) -> Array:
    return np.array(value, np.float32)


def words(text: str) -> list[str]:
    return text.split()


X, Y, IMAGE = normal(3, 4), normal(3, 1), normal(2, 4, 7, 6)
POSITIVE = np.abs(X) + np.float32(0.1)
ENDLESS = np.array([1, np.inf, -np.inf, np.nan], np.float32)
COUNTS = ints(7, -7, 3).reshape(3, 1)
Case = tuple[str, list[Array], list[Array | None], dict[str, Any]]

UNARY: list[Case] = [
    (op, [X], [], {})
    for op in words(
        "Neg Abs Exp Reciprocal Erf Tanh Sigmoid Sin Cos Tan Floor Ceil Round Sign Relu HardSwish "
        "Softplus Softsign Mish IsNaN LeakyRelu ThresholdedRelu Elu Celu HardSigmoid Shrink Selu "
        "Gelu Identity Dropout"
    )
]
BINARY: list[Case] = [
    (op, [X, Y], [], {})
    for op in words(
        "Add Sub Mul Div Max Min Sum Mean Equal Less LessOrEqual Greater GreaterOrEqual"
    )
]
POINTWISE: list[Case] = [
    ("Log", [POSITIVE], [], {}),
    ("Sqrt", [POSITIVE], [], {}),
    ("Pow", [POSITIVE, Y], [], {}),
    ("Pow", [X], [ints(3)], {}),
    ("Div", [COUNTS, ints(2, -2)], [], {}),
    ("Mod", [COUNTS, ints(2, -2)], [], {}),
    ("Mod", [X, Y], [], {"fmod": 1}),
    ("And", [X > 0, Y > 0], [], {}),
    ("Or", [X > 0, Y > 0], [], {}),
    ("Xor", [X > 0, Y > 0], [], {}),
    ("Not", [X > 0], [], {}),
    ("Where", [X > 0, X, Y], [], {}),
    ("Gelu", [X], [], {"approximate": "tanh"}),
    ("Clip", [X], [number(-0.5), number(0.5)], {}),
    ("Clip", [X], [None, number(0.5)], {}),
    ("PRelu", [X], [normal(4)], {}),
    ("Cast", [X], [], {"to": 7}),
    ("CastLike", [X, ints(1)], [], {}),
    ("IsInf", [ENDLESS], [], {"detect_negative": 0}),
    ("IsInf", [ENDLESS], [], {}),
]
CONTRACTION: list[Case] = [
    ("Gemm", [normal(4, 3)], [normal(5, 4), normal(5)], {"transA": 1, "transB": 1, "alpha": 0.5}),
    ("Gemm", [X], [normal(4, 5), normal(3, 1)], {"beta": 2.0}),
    ("Gemm", [X], [normal(4, 5)], {}),
    ("MatMul", [normal(2, 1, 3, 4), normal(5, 4, 2)], [], {}),
    ("MatMul", [normal(4), normal(2, 4, 3)], [], {}),
    ("MatMul", [X, normal(4)], [], {}),
    ("MatMul", [normal(4), normal(4)], [], {}),
    ("Conv", [IMAGE], [normal(6, 4, 3, 2), normal(6)], {"pads": [1, 0, 2, 1]}),
    ("Conv", [IMAGE], [normal(6, 2, 3, 3)], {"group": 2, "strides": [2, 1]}),
    ("Conv", [IMAGE], [normal(4, 1, 2, 2)], {"group": 4, "dilations": [2, 3]}),
    ("Conv", [IMAGE], [normal(5, 4, 2, 4)], {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
    ("Conv", [IMAGE], [normal(5, 4, 2, 4)], {"auto_pad": "SAME_UPPER"}),
    ("Conv", [normal(1, 2, 9)], [normal(3, 2, 4)], {}),
    ("Conv", [normal(1, 2, 4, 5, 4)], [normal(3, 2, 2, 3, 2)], {}),
]
LAYOUT: list[Case] = [
    ("Reshape", [IMAGE], [ints(0, -1, 6)], {}),
    ("Flatten", [IMAGE], [], {"axis": 2}),
    ("Flatten", [IMAGE], [], {"axis": -1}),
    ("Squeeze", [Y], [ints(-1)], {}),
    ("Squeeze", [Y], [], {}),
    ("Unsqueeze", [X], [ints(0, -1)], {}),
    ("Transpose", [IMAGE], [], {}),
    ("Transpose", [IMAGE], [], {"perm": [0, 2, 3, 1]}),
    ("Concat", [X, Y], [], {"axis": -1}),
    ("Slice", [IMAGE], [ints(-1, 5), ints(-100, 1), ints(1, 2), ints(-1, -2)], {}),
    ("Slice", [IMAGE], [ints(1), ints(1000), ints(-1)], {}),
    ("Pad", [X], [ints(1, 0, 0, 2), number(3)], {}),
    ("Pad", [X], [ints(1, 2), None, ints(-1)], {"mode": "reflect"}),
    ("Pad", [X], [ints(0, 1, 2, 0)], {"mode": "edge"}),
    ("Expand", [Y], [ints(2, 1, 5)], {}),
    ("Tile", [X], [ints(2, 3)], {}),
    ("DepthToSpace", [IMAGE], [], {"blocksize": 2}),
    ("DepthToSpace", [IMAGE], [], {"blocksize": 2, "mode": "CRD"}),
    ("Trilu", [X], [ints(-1)[0]], {"upper": 0}),
    ("Gather", [X], [ints(2, -1, 0, 1).reshape(2, 2)], {"axis": -1}),
    ("Gather", [X, ints(1, -3)], [], {}),
    ("GatherND", [IMAGE, ints(0, 3, 1, -1).reshape(2, 1, 2)], [], {}),
    ("GatherND", [normal(2, 3, 4), ints(2, 0).reshape(2, 1)], [], {"batch_dims": 1}),
]
REDUCTION: list[Case] = [
    (f"Reduce{fn}", [POSITIVE], [ints(-1)], {})
    for fn in words("Sum Mean Max Min Prod SumSquare L1 L2 LogSum LogSumExp")
]
WINDOWS: list[Case] = [
    ("ReduceSum", [IMAGE], [ints(0, 2)], {"keepdims": 0}),
    ("ReduceMean", [IMAGE], [], {}),
    ("ReduceMax", [X], [], {"noop_with_empty_axes": 1}),
    ("ArgMax", [IMAGE], [], {"axis": -2}),
    ("ArgMin", [np.round(X)], [], {"axis": 1, "keepdims": 0}),
    ("ArgMax", [np.round(X)], [], {"axis": 1, "select_last_index": 1}),
    ("GlobalAveragePool", [IMAGE], [], {}),
    ("GlobalMaxPool", [IMAGE], [], {}),
    ("MaxPool", [IMAGE], [], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
    ("MaxPool", [IMAGE], [], {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    ("MaxPool", [IMAGE], [], {"kernel_shape": [2, 4], "strides": [2, 3], "ceil_mode": 1}),
    ("AveragePool", [IMAGE], [], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("AveragePool", [IMAGE], [],
     {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("AveragePool", [IMAGE], [], {"kernel_shape": [2, 3], "auto_pad": "SAME_UPPER"}),
]  # fmt: skip
NORMALISATION: list[Case] = [
    ("Softmax", [IMAGE], [], {"axis": 1}),
    ("LogSoftmax", [IMAGE], [], {}),
    ("LayerNormalization", [IMAGE], [normal(7, 6), normal(7, 6)], {"axis": 2, "epsilon": 1e-3}),
    ("LayerNormalization", [X], [normal(4)], {}),
    ("BatchNormalization", [IMAGE],
     [normal(4), normal(4), normal(4), np.abs(normal(4))], {"epsilon": 1e-2}),
    ("InstanceNormalization", [IMAGE], [normal(4), normal(4)], {}),
    ("LpNormalization", [X], [], {"axis": 0, "p": 1}),
    ("LRN", [IMAGE], [], {"size": 3, "alpha": 0.3, "beta": 0.6, "bias": 1.5}),
]  # fmt: skip
CASES = UNARY + BINARY + POINTWISE + CONTRACTION + LAYOUT + REDUCTION + WINDOWS + NORMALISATION


@pytest.mark.parametrize(("op", "fed", "fixed", "attributes"), CASES)
def test_operator_agrees_with_onnxruntime(
    op: str, fed: list[Array], fixed: list[Array | None], attributes: dict[str, Any], tmp_path: Path
) -> None:
    path = saved(one_node(op, fed, fixed, **attributes), tmp_path)
    graph = load_onnx(path)
    inputs = {f"x{i}": array for i, array in enumerate(fed)}
    theirs = onnxruntime_outputs(path, inputs)["y0"]
    ours = reference(graph, inputs)["y0"]
    assert ours.shape == graph.values["y0"].shape == theirs.shape
    assert graph.values["y0"].dtype == theirs.dtype.name
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


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
    assert "Softmax" in {node.kind for node in graph.nodes}


def test_most_operators_of_the_table_are_tested() -> None:
    elsewhere = {"Split", "Constant", "ConstantOfShape", "Shape", "Size", "Range"}
    newer = {"GroupNormalization", "RMSNormalization", "Swish"}
    assert set(supported_operators()) == {case[0] for case in CASES} | elsewhere | newer
