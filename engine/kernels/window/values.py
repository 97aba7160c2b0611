"""Values of pooling windows, whole tensors at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.pointwise.functions import Array
from engine.kernels.window.spec import Window


def output_shape(op: Window, x_shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return (N, C, *out spatial); a side may come out below 1."""
    extra = op.extra or (0,) * len(op.kernel)
    sides = [
        (size + sum(pads) + more - (kernel - 1) * dilation - 1) // stride + 1
        for size, pads, more, kernel, dilation, stride in zip(
            x_shape[2:], op.pads, extra, op.kernel, op.dilations, op.strides, strict=True
        )
    ]
    return (*x_shape[:2], *sides)


def _rims(op: Window) -> list[tuple[int, int]]:
    """Return the cells (before, after) of each spatial axis that the windows reach beyond x."""
    extra = op.extra or (0,) * len(op.kernel)
    return [(before, after + more) for (before, after), more in zip(op.pads, extra, strict=True)]


def _windows(padded: Array, op: Window) -> Array:
    rank = len(op.kernel)
    reach = tuple((k - 1) * d + 1 for k, d in zip(op.kernel, op.dilations, strict=True))
    axes = tuple(range(padded.ndim - rank, padded.ndim))
    view = np.lib.stride_tricks.sliding_window_view(padded, reach, axes)
    keep = [slice(None, None, stride) for stride in op.strides]
    taps = [slice(None, None, dilation) for dilation in op.dilations]
    whole = [slice(None)] * (padded.ndim - rank)
    return view[(*whole, *keep, *taps)]


def _counted(op: Window, spatial: tuple[int, ...]) -> Array:
    """Return how many cells each window divides by."""
    if op.count_include_pad:
        covered = [size + sum(pads) for size, pads in zip(spatial, op.pads, strict=True)]
        rims = [(0, more) for more in op.extra or (0,) * len(op.kernel)]
    else:
        covered = list(spatial)
        rims = _rims(op)
    ones = np.pad(np.ones(covered), rims)
    return np.asarray(_windows(ones, op).sum(axis=tuple(range(-len(op.kernel), 0))))


def _places(op: Window, shape: tuple[int, ...], windows: Array) -> Array:
    """Return the flat index in the input of each window's first maximum."""
    spatial, rank = shape[2:], len(op.kernel)
    flat = windows.reshape(*windows.shape[:-rank], -1).argmax(axis=-1)
    taps = np.unravel_index(flat, op.kernel)
    total = np.zeros(flat.shape, np.int64)
    order = list(range(rank))
    weight, weights = 1, [0] * rank
    for axis in order if op.column_major else order[::-1]:
        weights[axis], weight = weight, weight * spatial[axis]
    for axis in order:
        starts = np.arange(flat.shape[2 + axis]) * op.strides[axis] - op.pads[axis][0]
        starts = starts.reshape(-1, *(1,) * (rank - 1 - axis))
        total += (starts + taps[axis] * op.dilations[axis]) * weights[axis]
    maps = np.arange(shape[0] * shape[1]).reshape(shape[0], shape[1], *(1,) * rank)
    return total + maps * weight


def evaluate(op: Window, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Reduce each window; pads count as minus infinity for max, as nothing or zero for mean."""
    x = arrays[0]
    rims = _rims(op)
    axes = tuple(range(-len(op.kernel), 0))
    if op.fn == "max":
        lowest = -np.inf if np.issubdtype(x.dtype, np.floating) else np.iinfo(x.dtype).min
        padded = np.pad(x, ((0, 0), (0, 0), *rims), constant_values=lowest)
        windows = _windows(padded, op)
        if len(op.outputs) == 2:
            return windows.max(axis=axes), _places(op, x.shape, windows)
        return (windows.max(axis=axes),)
    if op.fn == "mean":
        padded = np.pad(x, ((0, 0), (0, 0), *rims))
        total = _windows(padded, op).sum(axis=axes)
        with np.errstate(all="ignore"):
            return ((total / _counted(op, x.shape[2:])).astype(x.dtype),)
    raise ValueError(f"window function '{op.fn}' is neither max nor mean")
