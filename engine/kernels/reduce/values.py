"""Values of reductions, softmax and normalisations, whole tensors at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.kernels.pointwise.functions import Array
from engine.kernels.reduce.spec import CumSum, Normalize, Reduce, Softmax, TopK
from engine.kernels.spec import Operation


def _least(x: Array, axis: tuple[int, ...]) -> dict[str, Any]:
    """Return what a maximum starts from, only where it is taken over nothing."""
    if all(x.shape[each] for each in axis):
        return {}
    if x.dtype.kind == "b":
        return {"initial": False}
    return {"initial": -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min}


def _most(x: Array, axis: tuple[int, ...]) -> dict[str, Any]:
    """Return what a minimum starts from, only where it is taken over nothing."""
    if all(x.shape[each] for each in axis):
        return {}
    if x.dtype.kind == "b":
        return {"initial": True}
    return {"initial": np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max}


def _log_sum_exp(x: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
    top = np.max(x, axis=axis, keepdims=True, **_least(x, axis))
    top = np.where(np.isfinite(top), top, 0).astype(x.dtype)
    total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return np.asarray(total if keepdims else np.squeeze(total, axis=axis))


_REDUCERS: dict[str, Callable[[Array, tuple[int, ...], bool], Array]] = {
    "sum": lambda x, axis, keep: np.sum(x, axis=axis, keepdims=keep),
    "mean": lambda x, axis, keep: np.mean(x, axis=axis, keepdims=keep),
    "max": lambda x, axis, keep: np.max(x, axis=axis, keepdims=keep, **_least(x, axis)),
    "min": lambda x, axis, keep: np.min(x, axis=axis, keepdims=keep, **_most(x, axis)),
    "prod": lambda x, axis, keep: np.prod(x, axis=axis, keepdims=keep),
    "sum_square": lambda x, axis, keep: np.sum(x * x, axis=axis, keepdims=keep),
    "l1": lambda x, axis, keep: np.sum(np.abs(x), axis=axis, keepdims=keep),
    "l2": lambda x, axis, keep: np.sqrt(np.sum(x * x, axis=axis, keepdims=keep)),
    "log_sum": lambda x, axis, keep: np.log(np.sum(x, axis=axis, keepdims=keep)),
    "log_sum_exp": _log_sum_exp,
}
REDUCE_FUNCTIONS = (*_REDUCERS, "argmax", "argmin")
"""names `Reduce.fn` may take"""


def _reduce(op: Reduce, x: Array) -> Array:
    if op.fn in ("argmax", "argmin"):
        pick = np.argmax if op.fn == "argmax" else np.argmin
        return np.asarray(pick(x, axis=op.axes[0], keepdims=op.keepdims)).astype(np.int64)
    if op.fn not in _REDUCERS:
        raise ValueError(f"reduction '{op.fn}' is not one of {', '.join(REDUCE_FUNCTIONS)}")
    return np.asarray(_REDUCERS[op.fn](x, op.axes, op.keepdims)).astype(x.dtype, copy=False)


def unseen_hidden(op: Softmax, x: Array) -> Array:
    """Return x with the columns that a row of a causal softmax does not see at -inf."""
    if not op.causal:
        return x
    rows, columns = x.shape[-2:]
    own = np.arange(rows)[:, None] + (columns - rows)
    place = np.arange(columns)[None]
    seen = place <= own
    if op.window:
        seen &= place > own - op.window
    return np.where(seen, x, x.dtype.type(-np.inf))


def _softmax(op: Softmax, x: Array) -> Array:
    x = unseen_hidden(op, x)
    shifted = x - np.max(x, axis=op.axis, keepdims=True)
    powers = np.exp(shifted)
    total = np.sum(powers, axis=op.axis, keepdims=True)
    return np.asarray(shifted - np.log(total) if op.log else powers / total)


def _normalize(op: Normalize, arrays: Sequence[Array]) -> Array:
    x = arrays[0]
    centered = x - np.mean(x, axis=op.axes, keepdims=True) if op.center else x
    variance = np.mean(centered * centered, axis=op.axes, keepdims=True)
    result = centered / np.sqrt(variance + op.epsilon)
    if len(arrays) > 1:
        result = result * arrays[1]
    if len(arrays) > 2:
        result = result + arrays[2]
    return np.asarray(result).astype(x.dtype, copy=False)


def _top_k(op: TopK, x: Array) -> tuple[Array, Array]:
    """Sort by value, then index; NaN counts as the largest."""
    if op.largest:
        turned = np.flip(x, op.axis)
        order = np.flip(np.argsort(turned, axis=op.axis, kind="stable"), op.axis)
        order = x.shape[op.axis] - 1 - order
    else:
        order = np.argsort(x, axis=op.axis, kind="stable")
    first = [slice(None)] * x.ndim
    first[op.axis] = slice(op.k)
    indices = order[tuple(first)].astype(np.int64)
    return np.take_along_axis(x, indices, op.axis), indices


def _cum_sum(op: CumSum, x: Array) -> Array:
    turned = np.flip(x, op.axis) if op.reverse else x
    total = np.cumsum(turned, axis=op.axis, dtype=x.dtype)
    if op.exclusive:
        total = total - turned
    return np.asarray(np.flip(total, op.axis) if op.reverse else total)


def evaluate(op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Reduce, normalise or take the softmax in the dtype of the first input."""
    with np.errstate(all="ignore"):
        if isinstance(op, Reduce):
            return (_reduce(op, arrays[0]),)
        if isinstance(op, Softmax):
            return (_softmax(op, arrays[0]),)
        if isinstance(op, Normalize):
            return (_normalize(op, arrays),)
        if isinstance(op, TopK):
            return _top_k(op, arrays[0])
        if isinstance(op, CumSum):
            return (_cum_sum(op, arrays[0]),)
    raise TypeError(f"{type(op).__name__} is not a reduction")
