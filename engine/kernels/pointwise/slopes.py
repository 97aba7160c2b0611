"""First derivatives of scalar functions, for gradients of layers. Knows arrays only.

In the function table each is called as its function with `_slope` behind.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
_erf_of_objects = np.frompyfunc(math.erf, 1, 1)


def _silu(x: Array) -> Array:
    decay = np.exp(-np.abs(x))
    share = np.where(x >= 0, 1, decay) / (1 + decay)
    return np.asarray(share * (1 + x * (1 - share)))


def _gelu(x: Array) -> Array:
    below = 0.5 * (1 + np.asarray(_erf_of_objects(x * math.sqrt(0.5)), dtype=np.float64))
    bell = np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return np.asarray(below + x * bell).astype(x.dtype)


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


SLOPES: dict[str, tuple[Callable[..., Array], int, int]] = {
    "silu": (_silu, 23, 6),
    "gelu": (_gelu, 32, 8),
    "gelu_tanh": (_gelu_tanh, 27, 14),
    "tanh": (_tanh, 16, 3),
    "relu": (_relu, 1, 0),
}
"""function: (its derivative, vector operations, flops), counted as in the function table"""


def slope(fn: str, x: Array) -> Array:
    """Return the derivative of `fn` at each element, in the dtype of `x`.

    Raises ValueError for a function without a slope here.
    """
    if fn not in SLOPES:
        raise ValueError(f"function '{fn}' has no slope; there is one for {', '.join(SLOPES)}")
    return SLOPES[fn][0](x).astype(x.dtype, copy=False)
