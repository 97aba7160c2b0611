"""Values of the operations against loops and closed forms one can check on paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from engine.kernels.conv.spec import Conv
from engine.kernels.conv.values import patches
from engine.kernels.dot.spec import Dot
from engine.kernels.evaluate import evaluate
from engine.kernels.gather.spec import Gather, GatherND
from engine.kernels.move.spec import Concat, Expand, Pad, Reshape, Slice, Transpose
from engine.kernels.pointwise.functions import FUNCTIONS, erf
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import Operation
from engine.kernels.window.spec import Window

Array = np.ndarray[Any, np.dtype[Any]]
IO: dict[str, Any] = {"inputs": ("x",), "outputs": ("y",)}
TWO: dict[str, Any] = {"inputs": ("x", "w"), "outputs": ("y",)}
PARAMETERS = {
    "leaky_relu": (0.1,), "thresholded_relu": (1.0,), "elu": (1.0,), "celu": (1.0,),
    "hard_sigmoid": (0.2, 0.5), "shrink": (0.5, 0.0), "clip": (-1.0, 1.0),
}  # fmt: skip
BINARY = {
    "add", "sub", "mul", "div", "pow", "max", "min", "mod", "fmod", "and", "or", "xor",
    "equal", "less", "less_equal", "greater", "greater_equal",
}  # fmt: skip

INTEGER = {"bit_and", "bit_or", "bit_xor", "bit_not", "shift_left", "shift_right"}


def one(op: Operation, *arrays: Array) -> Array:
    (result,) = evaluate(op, arrays)
    return result


def ramp(*shape: int) -> Array:
    return np.arange(math.prod(shape), dtype=np.float64).reshape(shape)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - INTEGER))
def test_functions_keep_the_dtype_and_never_warn(name: str, dtype: str) -> None:
    x = np.array([-np.inf, -1000, -2.5, -0.0, 0.5, 1000, np.inf, np.nan]).astype(dtype)
    arity = 3 if name == "where" else 2 if name in BINARY else 1
    arrays = [x > 0, x, x] if arity == 3 else [x] * arity
    op = Map(**IO, fn=name, params=PARAMETERS.get(name, ()), dtype=dtype)
    result = one(op, *arrays)
    assert result.dtype == (np.bool_ if FUNCTIONS[name].result == "bool" else np.dtype(dtype))
    assert result.shape == x.shape


def test_erf_is_exact_to_the_last_digits_in_both_precisions() -> None:
    x = np.linspace(-6, 6, 4001)
    exact = np.array([math.erf(each) for each in x])
    np.testing.assert_allclose(erf(x), exact, rtol=1e-15)
    narrow = x.astype(np.float32)
    wide = np.array([math.erf(float(each)) for each in narrow])
    np.testing.assert_allclose(erf(narrow), wide, rtol=6e-8)


@pytest.mark.parametrize(
    ("name", "x", "y"),
    [
        ("sigmoid", 0.0, 0.5),
        ("silu", 2.0, 2 / (1 + math.exp(-2))),
        ("gelu", 1.0, 0.8413447460685429),
        ("softplus", 0.0, math.log(2)),
        ("hard_swish", 1.5, 1.125),
        ("mish", 0.0, 0.0),
        ("round", 2.5, 2.0),
        ("rsqrt", 4.0, 0.5),
    ],
)
def test_function_at_a_known_point(name: str, x: float, y: float) -> None:
    assert one(Map(**IO, fn=name), np.array([x]))[0] == pytest.approx(y, rel=1e-15)


def test_integer_division_rounds_toward_zero() -> None:
    result = one(Map(**TWO, fn="div"), np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2]))
    assert result.tolist() == [3, -3, -3, 3]


def test_power_keeps_the_dtype_of_its_base() -> None:
    assert one(Map(**TWO, fn="pow"), np.array([3], np.float32), np.array([2])).dtype == np.float32


def test_dot_broadcasts_its_batch_axes() -> None:
    result = one(Dot(**TWO), ramp(2, 1, 2, 3), ramp(3, 3, 1))
    assert result.shape == (2, 3, 2, 1)
    assert result[1, 2, 0, 0] == 6 * 6 + 7 * 7 + 8 * 8


def naive_conv(x: Array, w: Array, op: Conv) -> Array:
    x = np.pad(x, ((0, 0), (0, 0), *op.pads))
    kernels, depth, high, wide = w.shape
    out_h = (x.shape[2] - (high - 1) * op.dilations[0] - 1) // op.strides[0] + 1
    out_w = (x.shape[3] - (wide - 1) * op.dilations[1] - 1) // op.strides[1] + 1
    y = np.zeros((x.shape[0], kernels, out_h, out_w))
    for n, k, i, j in np.ndindex(*y.shape):
        first = k // (kernels // op.groups) * depth
        for c, a, b in np.ndindex(depth, high, wide):
            row, col = (
                at * stride + tap * spread
                for at, stride, tap, spread in zip(
                    (i, j), op.strides, (a, b), op.dilations, strict=True
                )
            )
            y[n, k, i, j] += x[n, first + c, row, col] * w[k, c, a, b]
    return y


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_conv_agrees_with_loops(groups: int) -> None:
    rng = np.random.default_rng(groups)
    x, w = rng.standard_normal((2, 4, 6, 5)), rng.standard_normal((8, 4 // groups, 3, 2))
    op = Conv(**TWO, strides=(2, 1), pads=((1, 0), (0, 2)), dilations=(1, 2), groups=groups)
    np.testing.assert_allclose(one(op, x, w), naive_conv(x, w, op), atol=1e-12)


def test_patches_lie_group_by_position_by_channel_and_tap() -> None:
    op = Conv(**TWO, strides=(1,), pads=((0, 0),), dilations=(1,), groups=2)
    rows = patches(ramp(1, 4, 3), op, (2, 2, 2))
    assert rows.shape == (2, 2, 4)
    assert rows[0].tolist() == [[0, 1, 3, 4], [1, 2, 4, 5]]
    assert rows[1, 0].tolist() == [6, 7, 9, 10]


def pool(fn: str, **fields: Any) -> Window:
    return Window(**IO, fn=fn, **({"pads": ((0, 0),), "dilations": (1,)} | fields))


def test_mean_window_divides_by_what_it_covers() -> None:
    x = np.array([[[2.0, 4.0, 6.0]]])
    op = pool("mean", kernel=(2,), strides=(2,), pads=((1, 0),))
    assert one(op, x).tolist() == [[[2, 5]]]
    padded = pool("mean", kernel=(2,), strides=(2,), pads=((1, 0),), count_include_pad=True)
    assert one(padded, x).tolist() == [[[1, 5]]]


def test_window_of_ceil_mode_never_counts_the_extra_cells() -> None:
    x = np.array([[[2.0, 4.0, 6.0]]])
    op = pool("mean", kernel=(2,), strides=(2,), extra=(1,), count_include_pad=True)
    assert one(op, x).tolist() == [[[3, 6]]]
    assert one(pool("max", kernel=(2,), strides=(2,), extra=(1,)), -x).tolist() == [[[-2, -6]]]


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        ("sum", 7), ("mean", 7 / 3), ("max", 4), ("min", 1), ("prod", 8), ("sum_square", 21),
        ("l1", 7), ("l2", math.sqrt(21)), ("log_sum", math.log(7)),
        ("log_sum_exp", math.log(math.e + math.e**2 + math.e**4)), ("argmax", 2), ("argmin", 0),
    ],
)  # fmt: skip
def test_reduction_of_1_2_4(fn: str, expected: float) -> None:
    result = one(Reduce(**IO, fn=fn, axes=(1,), keepdims=False), np.array([[1.0, 2.0, 4.0]]))
    assert result.shape == (1,)
    assert result[0] == pytest.approx(expected, rel=1e-15)


def test_log_sum_exp_of_large_numbers_does_not_overflow() -> None:
    result = one(Reduce(**IO, fn="log_sum_exp", axes=(0,)), np.array([1000.0, 1000.0]))
    assert result.tolist() == [1000 + math.log(2)]


def test_softmax_and_its_logarithm() -> None:
    x = np.array([[0.0, math.log(3)], [1000.0, 1000.0]])
    np.testing.assert_allclose(one(Softmax(**IO, axis=1), x), [[0.25, 0.75], [0.5, 0.5]])
    log = one(Softmax(**IO, axis=1, log=True), x)
    np.testing.assert_allclose(log, np.log([[0.25, 0.75], [0.5, 0.5]]))


def test_normalize_with_and_without_centering() -> None:
    x = np.array([[1.0, 3.0]])
    assert one(Normalize(**IO, axes=(1,), epsilon=0), x).tolist() == [[-1, 1]]
    rms = one(Normalize(**IO, axes=(1,), epsilon=4, center=False), x, np.array([3.0, 6.0]))
    assert rms.tolist() == [[1, 6]]


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (Reshape(**IO, shape=(3, 2)), [[0, 1], [2, 3], [4, 5]]),
        (Transpose(**IO, perm=(1, 0)), [[0, 3], [1, 4], [2, 5]]),
        (Slice(**IO, ranges=((1, None, -1), (0, 3, 2))), [[3, 5], [0, 2]]),
        (Concat(**IO, axis=0), [[0, 1, 2], [3, 4, 5]]),
        (Pad(**IO, pads=((0, 1), (1, 0)), mode="constant", value=9), [
            [9, 0, 1, 2], [9, 3, 4, 5], [9, 9, 9, 9]]),
        (Pad(**IO, pads=((0, 0), (1, 0)), mode="reflect"), [[1, 0, 1, 2], [4, 3, 4, 5]]),
        (Expand(**IO, shape=(1, 2, 3)), [[[0, 1, 2], [3, 4, 5]]]),
    ],
)  # fmt: skip
def test_move(op: Operation, expected: list[Any]) -> None:
    assert one(op, ramp(2, 3)).tolist() == expected


def test_gathers() -> None:
    assert one(Gather(**TWO, axis=1), ramp(2, 3), np.array([[2, -3]])).tolist() == [
        [[2, 0]],
        [[5, 3]],
    ]
    pairs = one(GatherND(**TWO), ramp(2, 3), np.array([[1, -1], [0, 1]]))
    assert pairs.tolist() == [5, 1]
    batched = one(GatherND(**TWO, batch_dims=1), ramp(2, 3), np.array([[0], [2]]))
    assert batched.tolist() == [0, 5]
    with pytest.raises(IndexError):
        one(Gather(**TWO, axis=1), ramp(2, 3), np.array([3]))


def test_unknown_operation_is_named() -> None:
    with pytest.raises(TypeError, match="operation Operation has no values"):
        evaluate(Operation(**IO), [ramp(1)])
