"""Values of gathers and scatters, whole tensors at once.

An index outside the axis raises IndexError.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.gather.spec import Gather, GatherElements, GatherND, Scatter, ScatterND
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


_COMBINE = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _grid(shape: tuple[int, ...], axis: int, indices: Array) -> tuple[Array, ...]:
    """Return index arrays that walk `indices`, with them in place of `axis`."""
    places = list(np.ogrid[tuple(slice(side) for side in shape)])
    places[axis] = indices
    return tuple(places)


def _write(data: Array, where: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    result = data.copy()
    if reduction == "none":
        result[where] = updates
    elif reduction in _COMBINE:
        _COMBINE[reduction].at(result, where, updates)
    else:
        raise ValueError(f"reduction '{reduction}' is not one of none, {', '.join(_COMBINE)}")
    return result


def _scatter(op: Scatter, data: Array, indices: Array, updates: Array) -> Array:
    where = np.where(indices < 0, indices + data.shape[op.axis], indices)
    return _write(data, _grid(indices.shape, op.axis, where), updates, op.reduction)


def _scatter_nd(op: ScatterND, data: Array, indices: Array, updates: Array) -> Array:
    where = tuple(np.moveaxis(indices, -1, 0))
    return _write(data, where, updates, op.reduction)


def evaluate(op: Operation, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Read or write the indexed elements; negative indices count from the end."""
    if isinstance(op, Gather):
        return (np.take(arrays[0], arrays[1], axis=op.axis),)
    if isinstance(op, GatherND):
        return (_gather_nd(op, arrays[0], arrays[1]),)
    if isinstance(op, GatherElements):
        return (arrays[0][_grid(arrays[1].shape, op.axis, arrays[1])],)
    if isinstance(op, Scatter):
        return (_scatter(op, arrays[0], arrays[1], arrays[2]),)
    if isinstance(op, ScatterND):
        return (_scatter_nd(op, arrays[0], arrays[1], arrays[2]),)
    raise TypeError(f"{type(op).__name__} is neither gather nor scatter")
