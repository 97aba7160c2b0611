"""The scalar functions a `Map` may apply: their values, and what one application costs on a PE.

Every function keeps the dtype of its first tensor (float32 in, float32 out), so the same table
serves the mesh's precision and the float64 reference. Knows arrays; no operations, no machines.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.kernels.pointwise.slopes import SLOPES

Array = np.ndarray[Any, np.dtype[Any]]
_SELU_ALPHA, _SELU_GAMMA = 1.6732632423543772, 1.0507009873554805
_erf_of_objects = np.frompyfunc(math.erf, 1, 1)


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """One function of the table."""

    name: str
    evaluate: Callable[..., Array]
    """(*tensors, *params) -> tensor, numpy broadcasting"""
    vector_ops: int
    """vector operations of one application on a PE (our assumption, see `_TABLE`)"""
    flops: int
    """floating-point operations counted for an element; 0 for comparisons and moves"""
    result: str = "first"
    """dtype of the result: of the `first` tensor, of the `second`, `bool`, or `given` by the Map"""


def erf(x: Array) -> Array:
    """Return the error function, exact to the last bits of the C library, in the dtype of `x`."""
    wide = np.asarray(_erf_of_objects(np.asarray(x, dtype=np.float64)), dtype=np.float64)
    return np.asarray(wide.astype(x.dtype))


def _sigmoid(x: Array) -> Array:
    decay = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, decay) / (1 + decay))


def _softplus(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


def _div(a: Array, b: Array) -> Array:
    if np.issubdtype(np.result_type(a), np.integer):
        quotient = np.abs(a) // np.abs(b)
        return np.asarray(np.where((a < 0) ^ (b < 0), -quotient, quotient)).astype(a.dtype)
    return np.asarray(a / b)


def _gelu(x: Array) -> Array:
    return np.asarray(x * 0.5 * (1 + erf(x * math.sqrt(0.5))))


def _gelu_tanh(x: Array) -> Array:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return np.asarray(0.5 * x * (1 + np.tanh(inner)))


def _elu(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _celu(x: Array, alpha: float) -> Array:
    return np.asarray(np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0) / alpha))


def _hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    return np.clip(alpha * x + beta, 0, 1)


def _shrink(x: Array, lambd: float, bias: float) -> Array:
    return np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0))


def _cast(x: Array, dtype: str) -> Array:
    return x.astype(dtype)


# name: (values, vector operations, flops, result). The vector operations are our assumption: a
# multiply, add, compare or select is one; a division or root is a few Newton steps; exp, log and
# the functions built on them are a range reduction and a polynomial of degree 6 to 9.
_TABLE: dict[str, tuple[Callable[..., Array], int, int, str]] = {
    "add": (np.add, 1, 1, "first"),
    "sub": (np.subtract, 1, 1, "first"),
    "mul": (np.multiply, 1, 1, "first"),
    "div": (_div, 6, 1, "first"),
    "pow": (np.power, 26, 1, "first"),
    "max": (np.maximum, 1, 1, "first"),
    "min": (np.minimum, 1, 1, "first"),
    "mod": (np.mod, 9, 1, "first"),
    "fmod": (np.fmod, 9, 1, "first"),
    "neg": (np.negative, 1, 1, "first"),
    "abs": (np.abs, 1, 1, "first"),
    "exp": (np.exp, 12, 1, "first"),
    "log": (np.log, 14, 1, "first"),
    "sqrt": (np.sqrt, 8, 1, "first"),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 8, 2, "first"),
    "reciprocal": (np.reciprocal, 6, 1, "first"),
    "erf": (erf, 14, 1, "first"),
    "tanh": (np.tanh, 14, 1, "first"),
    "sigmoid": (_sigmoid, 19, 3, "first"),
    "sin": (np.sin, 12, 1, "first"),
    "cos": (np.cos, 12, 1, "first"),
    "tan": (np.tan, 20, 1, "first"),
    "asin": (np.arcsin, 20, 1, "first"),
    "acos": (np.arccos, 20, 1, "first"),
    "atan": (np.arctan, 18, 1, "first"),
    "sinh": (np.sinh, 20, 1, "first"),
    "cosh": (np.cosh, 20, 1, "first"),
    "asinh": (np.arcsinh, 26, 1, "first"),
    "acosh": (np.arccosh, 26, 1, "first"),
    "atanh": (np.arctanh, 22, 1, "first"),
    "floor": (np.floor, 2, 1, "first"),
    "ceil": (np.ceil, 2, 1, "first"),
    "round": (np.rint, 2, 1, "first"),
    "sign": (np.sign, 2, 1, "first"),
    "relu": (lambda x: np.maximum(x, 0), 1, 1, "first"),
    "leaky_relu": (lambda x, alpha: np.where(x < 0, alpha * x, x), 2, 2, "first"),
    "thresholded_relu": (lambda x, alpha: np.where(x > alpha, x, 0), 2, 1, "first"),
    "elu": (_elu, 15, 3, "first"),
    "selu": (lambda x: _SELU_GAMMA * _elu(x, _SELU_ALPHA), 16, 4, "first"),
    "celu": (_celu, 16, 4, "first"),
    "hard_sigmoid": (_hard_sigmoid, 4, 4, "first"),
    "hard_swish": (lambda x: x * _hard_sigmoid(x, 1 / 6, 0.5), 5, 5, "first"),
    "softplus": (_softplus, 28, 3, "first"),
    "softsign": (lambda x: x / (1 + np.abs(x)), 8, 3, "first"),
    "gelu": (_gelu, 18, 5, "first"),
    "gelu_tanh": (_gelu_tanh, 21, 8, "first"),
    "silu": (lambda x: x * _sigmoid(x), 20, 4, "first"),
    "mish": (lambda x: x * np.tanh(_softplus(x)), 43, 5, "first"),
    "shrink": (_shrink, 6, 2, "first"),
    "clip": (lambda x, low, high: np.minimum(np.maximum(x, low), high), 2, 2, "first"),
    "equal": (np.equal, 1, 0, "bool"),
    "less": (np.less, 1, 0, "bool"),
    "less_equal": (np.less_equal, 1, 0, "bool"),
    "greater": (np.greater, 1, 0, "bool"),
    "greater_equal": (np.greater_equal, 1, 0, "bool"),
    "and": (np.logical_and, 1, 0, "bool"),
    "or": (np.logical_or, 1, 0, "bool"),
    "xor": (np.logical_xor, 1, 0, "bool"),
    "not": (np.logical_not, 1, 0, "bool"),
    "bit_and": (np.bitwise_and, 1, 0, "first"),
    "bit_or": (np.bitwise_or, 1, 0, "first"),
    "bit_xor": (np.bitwise_xor, 1, 0, "first"),
    "bit_not": (np.bitwise_not, 1, 0, "first"),
    "shift_left": (np.left_shift, 1, 0, "first"),
    "shift_right": (np.right_shift, 1, 0, "first"),
    "isnan": (np.isnan, 1, 0, "bool"),
    "isinf": (np.isinf, 1, 0, "bool"),
    "where": (np.where, 1, 0, "second"),
    "cast": (_cast, 1, 0, "given"),
    "identity": (np.copy, 1, 0, "first"),
}

FUNCTIONS: dict[str, ScalarFunction] = {
    name: ScalarFunction(name, *row) for name, row in _TABLE.items()
} | {f"{name}_slope": ScalarFunction(f"{name}_slope", *row) for name, row in SLOPES.items()}
