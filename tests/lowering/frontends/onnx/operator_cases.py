"""Inputs and attributes for each operator of the table, to be compared with onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.factories.onnx_models import Array


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
