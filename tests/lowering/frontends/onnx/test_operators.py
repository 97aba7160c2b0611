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
TAKEN_APART = {"Attention", "RotaryEmbedding"}
"""operators that ONNX itself says the parts of"""
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
COUNTS_2D = ints(0, 2, 1, 1, 0, 3).reshape(2, 3)
BYTES = np.array([[1, 200, 3], [250, 5, 6]], np.uint8)
SEQUENCE = normal(5, 2, 3)
INDEXED: list[Case] = [
    ("GatherElements", [X, COUNTS_2D], [], {"axis": -1}),
    ("ScatterElements", [X, COUNTS_2D, normal(2, 3)], [], {"axis": 1}),
    ("ScatterElements", [X, COUNTS_2D, normal(2, 3)], [], {"axis": 1, "reduction": "add"}),
    ("ScatterND", [X, ints(2, 0).reshape(2, 1), normal(2, 4)], [], {}),
    ("ScatterND", [X, ints(2, 2).reshape(2, 1), normal(2, 4)], [], {"reduction": "max"}),
    ("CumSum", [X], [ints(1)[0]], {"exclusive": 1, "reverse": 1}),
    ("OneHot", [ints(1, -1, 2)], [ints(4)[0], np.array([-2, 5], np.float32)], {"axis": 0}),
    ("Hardmax", [np.round(X)], [], {"axis": 0}),
    ("EyeLike", [X], [], {"k": 1}),
    ("ReverseSequence", [X], [ints(1, 2, 3, 3)], {"time_axis": 0, "batch_axis": 1}),
    ("Einsum", [normal(2, 3, 4), normal(4, 5)], [], {"equation": "bij,jk->bki"}),
    ("Einsum", [normal(2, 3, 4), normal(2, 3)], [], {"equation": "...j,...->..."}),
    ("BitwiseAnd", [COUNTS_2D, COUNTS_2D + 1], [], {}),
    ("BitwiseOr", [COUNTS_2D, COUNTS_2D + 1], [], {}),
    ("BitwiseXor", [COUNTS_2D, COUNTS_2D + 1], [], {}),
    ("BitwiseNot", [COUNTS_2D], [], {}),
    ("BitShift", [BYTES, BYTES % 4], [], {"direction": "RIGHT"}),
    ("BitShift", [BYTES, BYTES % 4], [], {"direction": "LEFT"}),
]
SPATIAL: list[Case] = [
    ("ConvTranspose", [IMAGE], [normal(4, 3, 3, 2), normal(6)],
     {"group": 2, "strides": [2, 3], "pads": [1, 0, 2, 1], "output_padding": [1, 0]}),
    ("ConvTranspose", [IMAGE], [normal(4, 2, 2, 2)], {"dilations": [2, 1], "pads": [3, 1, 2, 1]}),
    ("LpPool", [IMAGE], [], {"kernel_shape": [2, 3], "p": 3}),
    ("Resize", [IMAGE], [None, None, ints(2, 4, 5, 9)], {"mode": "linear"}),
    ("Resize", [IMAGE], [None, np.array([1, 1, 2, 0.6], np.float32)], {"mode": "cubic"}),
    ("Resize", [IMAGE], [None, np.array([1, 1, 1.7, 3], np.float32)],
     {"mode": "nearest", "coordinate_transformation_mode": "asymmetric",
      "nearest_mode": "floor"}),
]  # fmt: skip
QUANTISED: list[Case] = [
    ("QuantizeLinear", [X], [number(0.02), np.array(7, np.uint8)], {}),
    ("DequantizeLinear", [BYTES], [normal(3), np.array([1, 2, 3], np.uint8)], {"axis": 1}),
    ("MatMulInteger", [BYTES, BYTES.T.copy()], [np.array(3, np.uint8), np.array(1, np.uint8)], {}),
    ("QLinearMatMul",
     [BYTES, number(0.1), np.array(3, np.uint8), BYTES.T.copy(), number(0.2),
      np.array(9, np.uint8), number(40.0), np.array(100, np.uint8)], [], {}),
    ("ConvInteger", [np.arange(18, dtype=np.uint8).reshape(1, 2, 3, 3)],
     [np.arange(8, dtype=np.uint8).reshape(1, 2, 2, 2), np.array(4, np.uint8)], {}),
    ("QLinearConv",
     [np.arange(18, dtype=np.uint8).reshape(1, 2, 3, 3), number(0.1), np.array(2, np.uint8)],
     [np.arange(16, dtype=np.uint8).reshape(2, 2, 2, 2), np.array([0.1, 0.2], np.float32),
      np.array([1, 2], np.uint8), number(3.0), np.array(5, np.uint8),
      np.array([10, -10], np.int32)], {}),
]  # fmt: skip
RECURRENT: list[Case] = [
    ("LSTM", [SEQUENCE], [normal(1, 16, 3), normal(1, 16, 4), normal(1, 32), None,
                          normal(1, 2, 4), normal(1, 2, 4), normal(1, 12)], {"hidden_size": 4}),
    ("LSTM", [SEQUENCE], [normal(2, 16, 3), normal(2, 16, 4), None, np.array([5, 2], np.int32)],
     {"hidden_size": 4, "direction": "bidirectional"}),
    ("GRU", [SEQUENCE], [normal(1, 12, 3), normal(1, 12, 4), normal(1, 24)],
     {"hidden_size": 4, "direction": "reverse", "linear_before_reset": 1}),
    ("GRU", [SEQUENCE], [normal(1, 12, 3), normal(1, 12, 4), normal(1, 24)], {"hidden_size": 4}),
    ("RNN", [SEQUENCE], [normal(1, 4, 3), normal(1, 4, 4), normal(1, 8)],
     {"hidden_size": 4, "activations": ["Relu"], "clip": 0.7}),
]  # fmt: skip
OTHER: list[Case] = [
    *((op, [np.tanh(X)], [], {}) for op in words("Asin Acos Atan Sinh Cosh Asinh Atanh")),
    ("Acosh", [POSITIVE + 1], [], {}),
    ("Attention", [normal(1, 4, 3, 2), normal(1, 2, 3, 2), normal(1, 2, 3, 2)], [],
     {"is_causal": 1}),
    ("RotaryEmbedding", [normal(1, 2, 3, 4)], [normal(3, 2), normal(3, 2), ints(0, 1, 2)[None]],
     {}),
]  # fmt: skip
NEWER = {"Attention": 23, "RotaryEmbedding": 23}
CASES = (
    UNARY + BINARY + POINTWISE + CONTRACTION + LAYOUT + REDUCTION + WINDOWS + NORMALISATION
    + INDEXED + SPATIAL + QUANTISED + RECURRENT + OTHER
)  # fmt: skip


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
    attributes = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}
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
    assert "Softmax" in {node.kind for node in graph.nodes}


def test_most_operators_of_the_table_are_tested() -> None:
    elsewhere = {"Split", "Constant", "ConstantOfShape", "Shape", "Size", "Range"}
    newer = {"GroupNormalization", "RMSNormalization", "Swish", "TensorScatter", "TopK"}
    control = {"If", "Loop", "Scan"}
    optimizers = {"Adam", "Adagrad", "Momentum"}
    tested = {case[0] for case in CASES} | elsewhere | newer | control | optimizers
    assert set(supported_operators()) == (tested | {"Scatter"}) - TAKEN_APART
