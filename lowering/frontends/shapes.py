"""Shape and dtype of what an operation gives, from those of what it reads.

Raises ValueError where the operands do not fit, with both shapes. Knows no model formats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from engine.kernels.conv.spec import Conv
from engine.kernels.conv.values import output_shape as conv_shape
from engine.kernels.dequantize.spec import Dequantize, blocks
from engine.kernels.dot.spec import Dot
from engine.kernels.embedding.spec import RowSum
from engine.kernels.gather.spec import Gather, GatherElements, GatherND, Scatter, ScatterND
from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.moe.spec import Moe
from engine.kernels.move.spec import Concat, Expand, Pad, Reshape, Slice, Transpose
from engine.kernels.pointwise.spec import Map
from engine.kernels.pointwise.values import result_dtype
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.reduce.spec import CumSum, Normalize, Reduce, Softmax, TopK
from engine.kernels.spec import Operation
from engine.kernels.window.spec import Window
from engine.kernels.window.values import output_shape as window_shape
from lowering.graph import Value

Shape = tuple[int, ...]


def broadcast(*shapes: Shape) -> Shape:
    """Return the common shape under numpy's rules."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"shapes {' and '.join(map(str, shapes))} do not broadcast") from None


def _dot(op: Dot, values: Sequence[Value]) -> Shape:
    a, b = values[0].shape, values[1].shape
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        raise ValueError(f"cannot multiply {a} by {b}: the inner sides differ")
    return (*broadcast(a[:-2], b[:-2]), a[-2], b[-1])


def _conv(op: Conv, values: Sequence[Value]) -> Shape:
    x, w = values[0].shape, values[1].shape
    fits = len(x) == len(w) == len(op.strides) + 2
    if not fits or op.groups < 1 or x[1] != w[1] * op.groups or w[0] % op.groups:
        raise ValueError(f"input {x} does not fit weights {w} in {op.groups} groups")
    return _positive(conv_shape(op, x, w), x)


def _window(op: Window, values: Sequence[Value]) -> Shape:
    x = values[0].shape
    if len(x) != len(op.kernel) + 2:
        raise ValueError(f"input {x} does not fit a window of {len(op.kernel)} dimensions")
    return _positive(window_shape(op, x), x)


def _positive(shape: Shape, x: Shape) -> Shape:
    if min(shape) < 1:
        raise ValueError(f"the window is larger than the padded input {x}")
    return shape


def _reshape(op: Reshape, values: Sequence[Value]) -> Shape:
    if prod(op.shape) != values[0].elements or min(op.shape, default=0) < 0:
        raise ValueError(f"cannot reshape {values[0].shape} to {op.shape}: other element counts")
    return op.shape


def _transpose(op: Transpose, values: Sequence[Value]) -> Shape:
    shape = values[0].shape
    if sorted(op.perm) != list(range(len(shape))):
        raise ValueError(f"permutation {op.perm} does not fit shape {shape}")
    return tuple(shape[axis] for axis in op.perm)


def _slice(op: Slice, values: Sequence[Value]) -> Shape:
    cuts = zip(op.ranges, values[0].shape, strict=True)
    return tuple(len(range(*slice(*cut).indices(size))) for cut, size in cuts)


def _concat(op: Concat, values: Sequence[Value]) -> Shape:
    first = values[0].shape
    for value in values:
        rest = zip(value.shape, first, strict=False)
        if len(value.shape) != len(first) or any(
            a != b for axis, (a, b) in enumerate(rest) if axis != op.axis
        ):
            raise ValueError(f"cannot join {value.shape} to {first} along axis {op.axis}")
    joined = sum(value.shape[op.axis] for value in values)
    return (*first[: op.axis], joined, *first[op.axis + 1 :])


def _pad(op: Pad, values: Sequence[Value]) -> Shape:
    sides = zip(values[0].shape, op.pads, strict=True)
    return tuple(size + before + after for size, (before, after) in sides)


def _expand(op: Expand, values: Sequence[Value]) -> Shape:
    if broadcast(values[0].shape, op.shape) != op.shape:
        raise ValueError(f"cannot expand {values[0].shape} to {op.shape}")
    return op.shape


def _reduce(op: Reduce, values: Sequence[Value]) -> Shape:
    sides = enumerate(values[0].shape)
    if op.keepdims:
        return tuple(1 if axis in op.axes else size for axis, size in sides)
    return tuple(size for axis, size in sides if axis not in op.axes)


def _normalize(op: Normalize, values: Sequence[Value]) -> Shape:
    if broadcast(*(value.shape for value in values)) != values[0].shape:
        raise ValueError(f"scale or bias {values[1].shape} does not fit {values[0].shape}")
    return values[0].shape


def _gather(op: Gather, values: Sequence[Value]) -> Shape:
    data, indices = values[0].shape, values[1].shape
    return (*data[: op.axis], *indices, *data[op.axis + 1 :])


def _gather_nd(op: GatherND, values: Sequence[Value]) -> Shape:
    data, indices = values[0].shape, values[1].shape
    batch, depth = op.batch_dims, indices[-1]
    if data[:batch] != indices[:batch] or batch + depth > len(data):
        raise ValueError(f"indices {indices} do not fit data {data} with {batch} batch axes")
    return (*indices[:-1], *data[batch + depth :])


def _gather_elements(op: GatherElements, values: Sequence[Value]) -> Shape:
    data, indices = values[0].shape, values[1].shape
    fits = len(data) == len(indices) and all(
        axis == op.axis or side <= data[axis] for axis, side in enumerate(indices)
    )
    if not fits:
        raise ValueError(f"indices {indices} do not fit data {data} along axis {op.axis}")
    return indices


def _scatter(op: Scatter, values: Sequence[Value]) -> Shape:
    data, indices, updates = (value.shape for value in values)
    fits = len(data) == len(indices) and all(
        axis == op.axis or side <= data[axis] for axis, side in enumerate(indices)
    )
    if not fits or indices != updates:
        raise ValueError(f"indices {indices} and updates {updates} do not fit data {data}")
    return data


def _scatter_nd(op: ScatterND, values: Sequence[Value]) -> Shape:
    data, indices, updates = (value.shape for value in values)
    depth = indices[-1]
    if depth > len(data) or updates != (*indices[:-1], *data[depth:]):
        raise ValueError(f"indices {indices} and updates {updates} do not fit data {data}")
    return data


def _top_k(op: TopK, values: Sequence[Value]) -> tuple[tuple[Shape, str], ...]:
    shape = list(values[0].shape)
    if not 0 <= op.k <= shape[op.axis]:
        raise ValueError(f"cannot take {op.k} of the {shape[op.axis]} on axis {op.axis}")
    shape[op.axis] = op.k
    return (tuple(shape), values[0].dtype), (tuple(shape), "int64")


def _recurrent(op: Recurrent, values: Sequence[Value]) -> tuple[tuple[Shape, str], ...]:
    steps, batch, gates = values[0].shape
    if gates != op.gates * op.hidden or values[1].shape != (op.hidden, gates):
        raise ValueError(
            f"inputs {values[0].shape} and weights {values[1].shape} do not fit "
            f"{op.gates} gates of {op.hidden} units"
        )
    state = ((batch, op.hidden), values[0].dtype)
    return (((steps, batch, op.hidden), values[0].dtype), *(state,) * (len(op.outputs) - 1))


def _windows(op: Window, values: Sequence[Value]) -> tuple[tuple[Shape, str], ...]:
    shape = _window(op, values)
    return ((shape, values[0].dtype), (shape, "int64"))[: len(op.outputs)]


def _row_sum(op: RowSum, values: Sequence[Value]) -> Shape:
    rows, ids = values[0].shape, values[1].shape
    if rows[:-1] != ids:
        raise ValueError(f"rows {rows} do not fit indices {ids}")
    return (op.length, rows[-1])


def _loss(op: CrossEntropy | CrossEntropyGrad, values: Sequence[Value]) -> Shape:
    logits, labels = values[0].shape, values[1].shape
    if logits[:-1] != labels:
        raise ValueError(f"logits {logits} do not fit labels {labels}")
    return labels if isinstance(op, CrossEntropy) else logits


def _dequantize(op: Dequantize, values: Sequence[Value]) -> tuple[tuple[Shape, str], ...]:
    whole, scale = values[0].shape, values[1].shape
    if blocks(whole, scale) is None or any(value.shape != scale for value in values[2:]):
        raise ValueError(f"scales {scale} do not divide integers {whole} into equal blocks")
    return ((whole, values[1].dtype),)


def _moe(op: Moe, values: Sequence[Value]) -> Shape:
    x, router, gate, up, down = (value.shape for value in values[:5])
    experts, inner = router[-1], gate[-1]
    fits = router == (x[-1], experts) and gate == up == (experts, x[-1], inner)
    if not fits or down != (experts, inner, x[-1]) or not 1 <= op.active <= experts:
        raise ValueError(
            f"input {x} does not fit {experts} experts ({op.active} active) with router {router}, "
            f"gate {gate}, up {up} and down {down}"
        )
    return x


_SHAPES: dict[type[Operation], Callable[[Any, Sequence[Value]], Shape]] = {
    Map: lambda op, values: broadcast(*(value.shape for value in values)),
    Dot: _dot,
    Conv: _conv,
    RowSum: _row_sum,
    Moe: _moe,
    **dict.fromkeys((CrossEntropy, CrossEntropyGrad), _loss),
    Reshape: _reshape,
    Transpose: _transpose,
    Slice: _slice,
    Concat: _concat,
    Pad: _pad,
    Expand: _expand,
    Reduce: _reduce,
    Softmax: lambda op, values: values[0].shape,
    Normalize: _normalize,
    Gather: _gather,
    GatherND: _gather_nd,
    GatherElements: _gather_elements,
    Scatter: _scatter,
    ScatterND: _scatter_nd,
    CumSum: lambda op, values: values[0].shape,
}


_SEVERAL: dict[type[Operation], Callable[[Any, Sequence[Value]], tuple[tuple[Shape, str], ...]]] = {
    Dequantize: _dequantize,
    TopK: _top_k,
    Recurrent: _recurrent,
    Window: _windows,
}


def infer(op: Operation, values: Sequence[Value]) -> tuple[tuple[Shape, str], ...]:
    """Return shape and dtype of each output of `op`."""
    if type(op) in _SEVERAL:
        return _SEVERAL[type(op)](op, values)
    dtype = values[0].dtype
    if isinstance(op, Map):
        dtype = result_dtype(op, [value.dtype for value in values])
    elif isinstance(op, Reduce) and op.fn in ("argmax", "argmin"):
        dtype = "int64"
    return ((_SHAPES[type(op)](op, values), dtype),)
