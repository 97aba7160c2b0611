"""Values of gathers, whole tensors at once. An index outside the axis raises IndexError."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.gather.spec import Gather, GatherND
from engine.kernels.pointwise.functions import Array
from engine.kernels.spec import Operation


def _gather_nd(op: GatherND, data: Array, indices: Array) -> Array:
    """Index the axes after the batch axes with the last axis of `indices`."""
    batch = op.batch_dims
    lead = data.shape[:batch]
    count = int(np.prod(lead))
    depth = indices.shape[-1]
    flat_data = data.reshape(count, *data.shape[batch:])
    flat_indices = indices.reshape(count, -1, depth)
    rows = np.arange(count)[:, None]
    picked = flat_data[(rows, *(flat_indices[..., axis] for axis in range(depth)))]
    tail = data.shape[batch + depth :]
    return np.asarray(picked.reshape(*indices.shape[:-1], *tail))


def evaluate(op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Read the indexed elements; negative indices count from the end."""
    if isinstance(op, Gather):
        return (np.take(arrays[0], arrays[1], axis=op.axis),)
    if isinstance(op, GatherND):
        return (_gather_nd(op, arrays[0], arrays[1]),)
    raise TypeError(f"{type(op).__name__} is not a gather")
