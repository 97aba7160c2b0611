"""First derivatives of scalar functions, for gradients of layers. Knows arrays only."""

from __future__ import annotations

import math

import numpy as np

from engine.kernels.pointwise.functions import FUNCTIONS, Array, erf


def _silu(x: Array) -> Array:
    share = FUNCTIONS["sigmoid"].evaluate(x)
    return np.asarray(share * (1 + x * (1 - share)))


def _gelu(x: Array) -> Array:
    bell = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return np.asarray(0.5 * (1 + erf(x * math.sqrt(0.5))) + x * bell)


def _gelu_tanh(x: Array) -> Array:
    root = math.sqrt(2 / math.pi)
    turned = np.tanh(root * (x + 0.044715 * x * x * x))
    inner = root * (1 + 3 * 0.044715 * x * x)
    return np.asarray(0.5 * (1 + turned) + 0.5 * x * (1 - turned * turned) * inner)


def _tanh(x: Array) -> Array:
    turned = np.tanh(x)
    return np.asarray(1 - turned * turned)


def _relu(x: Array) -> Array:
    return np.asarray((x > 0).astype(x.dtype))


_SLOPES = {"silu": _silu, "gelu": _gelu, "gelu_tanh": _gelu_tanh, "tanh": _tanh, "relu": _relu}
SLOPED = tuple(_SLOPES)
"""functions with a slope"""


def slope(fn: str, x: Array) -> Array:
    """Return the derivative of `fn` at each element, in the dtype of `x`.

    Raises ValueError for a function without a slope here.
    """
    if fn not in _SLOPES:
        raise ValueError(f"function '{fn}' has no slope; there is one for {', '.join(SLOPED)}")
    return _SLOPES[fn](x).astype(x.dtype, copy=False)
