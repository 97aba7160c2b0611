"""Values of data movement, whole tensors at once; views where numpy gives views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.kernels.move.spec import Concat, Expand, Pad, Reshape, Slice, Transpose
from engine.kernels.pointwise.functions import Array
from engine.kernels.spec import Operation


def _pad(op: Pad, x: Array) -> Array:
    mode: Any = op.mode
    if op.mode == "constant":
        return np.pad(x, op.pads, mode=mode, constant_values=x.dtype.type(op.value))
    return np.pad(x, op.pads, mode=mode)


def evaluate(op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Move the data; no number changes."""
    x = arrays[0]
    match op:
        case Reshape(shape=shape):
            result = x.reshape(shape)
        case Transpose(perm=perm):
            result = x.transpose(perm)
        case Slice(ranges=ranges):
            result = x[tuple(slice(*cut) for cut in ranges)]
        case Concat(axis=axis):
            result = np.concatenate(arrays, axis=axis)
        case Pad():
            result = _pad(op, x)
        case Expand(shape=shape):
            result = np.broadcast_to(x, shape)
        case _:
            raise TypeError(f"{type(op).__name__} is not a data movement")
    return (result,)
