"""Values of convolutions, whole tensors at once: patches of the input times the weights.

The mesh-order variant shares `patches`, so both see the same matrix in the same layout.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.conv.spec import Conv
from engine.kernels.pointwise.functions import Array


def output_shape(
    op: Conv, x_shape: tuple[int, ...], weight_shape: tuple[int, ...]
) -> tuple[int, ...]:
    """Return (N, K, *out spatial) of the convolution; a side may come out below 1."""
    sides = [
        (size + sum(pads) - (kernel - 1) * dilation - 1) // stride + 1
        for size, pads, kernel, dilation, stride in zip(
            x_shape[2:], op.pads, weight_shape[2:], op.dilations, op.strides, strict=True
        )
    ]
    return (x_shape[0], weight_shape[0], *sides)


def patches(x: Array, op: Conv, weight_shape: tuple[int, ...]) -> Array:
    """Return the input patches, (groups, N * out spatial, C / groups * kernel), row-major.

    Row index runs over the batch, then the output positions; column index over the channels of
    the group, then the kernel positions: the order of `w.reshape(groups, K / groups, -1)`.
    """
    rank = len(op.strides)
    padded = np.pad(x, ((0, 0), (0, 0), *op.pads)) if any(map(any, op.pads)) else x
    reach = tuple((k - 1) * d + 1 for k, d in zip(weight_shape[2:], op.dilations, strict=True))
    windows = np.lib.stride_tricks.sliding_window_view(padded, reach, tuple(range(2, 2 + rank)))
    keep = [slice(None, None, stride) for stride in op.strides]
    taps = [slice(None, None, dilation) for dilation in op.dilations]
    windows = windows[(slice(None), slice(None), *keep, *taps)]
    batch, channels = windows.shape[:2]
    out, kernel = windows.shape[2 : 2 + rank], windows.shape[2 + rank :]
    grouped = windows.reshape(batch, op.groups, channels // op.groups, *out, *kernel)
    spatial = tuple(range(3, 3 + rank))
    ordered = grouped.transpose(1, 0, *spatial, 2, *range(3 + rank, 3 + 2 * rank))
    return ordered.reshape(op.groups, batch * int(np.prod(out)), -1)


def evaluate(op: Conv, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Convolve (N, C, *spatial) with (K, C / groups, *kernel)."""
    x, weights = arrays[0], arrays[1]
    batch, kernels, *out = output_shape(op, x.shape, weights.shape)
    rows = patches(x, op, weights.shape)
    columns = weights.reshape(op.groups, kernels // op.groups, -1).transpose(0, 2, 1)
    with np.errstate(all="ignore"):
        product = rows @ columns
    product = product.reshape(op.groups, batch, *out, kernels // op.groups)
    axes = (1, 0, product.ndim - 1, *range(2, product.ndim - 1))
    return (np.ascontiguousarray(product.transpose(axes)).reshape(batch, kernels, *out),)
