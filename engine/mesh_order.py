"""Values in the mesh's order: partial sums a PE, then along the chain of PEs to the keeper.

A product is summed over K in `k_parts` pieces, one a row of the group. For each result the
chain runs from both ends of the group towards the row that keeps it: (upper pieces + own) +
lower pieces. Inside a tile BLAS sums as it likes in float32; what a PE keeps and what it passes
on is rounded to the dtype of partial sums. Row statistics run from west to east.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from engine.dtypes import rounded
from engine.geometry import Split
from engine.kernels.conv.spec import Conv
from engine.kernels.conv.values import output_shape, patches
from engine.kernels.dot.spec import Dot
from engine.kernels.evaluate import evaluate
from engine.kernels.problem import Problem
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.recurrent.values import run_cell
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.reduce.values import unseen_hidden
from engine.kernels.spec import Operation
from engine.program import Tiling


def keeper_rows(m_count: int, n_count: int, k_parts: int) -> np.ndarray:
    """Return the row of the group that keeps each result of one tile, int64 (m_count, n_count).

    Whole positions where there are enough of them, else single results in row-major order.
    """
    if m_count >= k_parts:
        owners = np.repeat(np.arange(k_parts), Split(m_count, k_parts).sizes())
        return np.broadcast_to(owners[:, None], (m_count, n_count))
    owners = np.repeat(np.arange(k_parts), Split(m_count * n_count, k_parts).sizes())
    return owners.reshape(m_count, n_count)


def mesh_evaluate(
    op: Operation, arrays: Sequence[np.ndarray], problem: Problem, tiling: Tiling
) -> tuple[np.ndarray, ...]:
    """Return the outputs of one operation of a kernel in mesh order, in its inputs' dtype."""
    if isinstance(op, Dot):
        return (_dot(arrays[0], arrays[1], problem, tiling),)
    if isinstance(op, Conv):
        return (_conv(op, arrays[0], arrays[1], problem, tiling),)
    if isinstance(op, Recurrent):
        return _recurrent(op, arrays, problem, tiling)
    parts = max(1, tiling.n_parts // problem.batch)
    with np.errstate(all="ignore"):
        if isinstance(op, Softmax):
            return (_softmax(op, arrays[0], parts, problem.accumulate),)
        if isinstance(op, Normalize):
            return (_normalize(op, arrays, parts, problem.accumulate),)
        if isinstance(op, Reduce) and op.fn in ("sum", "mean"):
            pieces = tiling.k_parts if problem.work == "reduce" else parts
            return (_reduce(op, arrays[0], pieces, problem.accumulate),)
        return evaluate(op, arrays)


def _dot(a: np.ndarray, b: np.ndarray, problem: Problem, tiling: Tiling) -> np.ndarray:
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if problem.batch == 1:
        left = a.reshape(1, -1, a.shape[-1])
        right = b.reshape(1, *b.shape[-2:])
        product = mesh_product(left, right, problem, tiling)
        return product.reshape(*a.shape[:-1], b.shape[-1])
    left = np.broadcast_to(a, (*shape, *a.shape[-2:])).reshape(-1, *a.shape[-2:])
    right = np.broadcast_to(b, (*shape, *b.shape[-2:])).reshape(-1, *b.shape[-2:])
    product = mesh_product(left, right, problem, tiling)
    return product.reshape(*shape, a.shape[-2], b.shape[-1])


def _recurrent(
    op: Recurrent, arrays: Sequence[np.ndarray], problem: Problem, tiling: Tiling
) -> tuple[np.ndarray, ...]:
    """Run the time steps; each gate's product runs along the column as a product of its own."""
    pieces = Split(problem.k_units, tiling.k_parts)
    cuts = [pieces.start(i) for i in range(pieces.parts)] + [problem.k_units]

    def product(state: np.ndarray, weights: np.ndarray) -> np.ndarray:
        out = np.empty((1, state.shape[0], weights.shape[1]), state.dtype)
        _chain(state[None], weights[None], cuts, tiling, out, problem.accumulate)
        return np.asarray(out[0])

    return run_cell(op, arrays, product)


def _conv(
    op: Conv, x: np.ndarray, weights: np.ndarray, problem: Problem, tiling: Tiling
) -> np.ndarray:
    batch, kernels, *out = output_shape(op, x.shape, weights.shape)
    rows = patches(x, op, weights.shape)
    columns = weights.reshape(op.groups, kernels // op.groups, -1).transpose(0, 2, 1)
    product = mesh_product(rows, columns, problem, tiling)
    product = product.reshape(op.groups, batch, *out, kernels // op.groups)
    axes = (1, 0, product.ndim - 1, *range(2, product.ndim - 1))
    return np.ascontiguousarray(product.transpose(axes)).reshape(batch, kernels, *out)


def mesh_product(
    left: np.ndarray, right: np.ndarray, problem: Problem, tiling: Tiling
) -> np.ndarray:
    """Return left (groups, M, K) @ right (groups, K, N) summed in mesh order.

    Rows of M are cut by `tiling.m_parts` between units, K by `k_parts`; N needs no cut since
    columns never mix.
    """
    units = Split(problem.m_units, tiling.m_parts)
    pieces = Split(problem.k_units, tiling.k_parts)
    k_inner = left.shape[-1] // problem.k_units
    cuts = [pieces.start(i) * k_inner for i in range(pieces.parts)] + [left.shape[-1]]
    out = np.empty((left.shape[0], left.shape[1], right.shape[2]), left.dtype)
    with np.errstate(all="ignore"):
        for part in range(units.parts):
            first, count = units.start(part), units.size(part)
            rows = slice(first * problem.m_inner, (first + count) * problem.m_inner)
            _chain(left[:, rows], right, cuts, tiling, out[:, rows], problem.accumulate)
    return out


def _chain(
    left: np.ndarray,
    right: np.ndarray,
    cuts: list[int],
    tiling: Tiling,
    out: np.ndarray,
    dtype: str,
) -> None:
    k_parts = len(cuts) - 1
    if k_parts == 1:
        np.matmul(left, right, out=out)
        _round(out, dtype)
        return
    below = np.zeros_like(out)
    out[:] = 0
    if left.shape[1] >= k_parts:
        _chain_by_position(left, right, cuts, out, below, dtype)
    else:
        _chain_by_result(left, right, cuts, tiling, out, below, dtype)
    out += below
    _round(out, dtype)


def _round(partial: np.ndarray, dtype: str) -> None:
    """Round partial sums in place to the dtype they are kept in."""
    if dtype != "fp32":
        partial[...] = rounded(partial, dtype)


def _chain_by_position(
    left: np.ndarray,
    right: np.ndarray,
    cuts: list[int],
    out: np.ndarray,
    below: np.ndarray,
    dtype: str,
) -> None:
    kept = Split(left.shape[1], len(cuts) - 1)
    for piece in range(kept.parts):
        k, start = slice(cuts[piece], cuts[piece + 1]), kept.start(piece)
        out[:, start:] += rounded(left[:, start:, k] @ right[:, k], dtype)
        _round(out[:, start:], dtype)
    for piece in reversed(range(kept.parts)):
        k, start = slice(cuts[piece], cuts[piece + 1]), kept.start(piece)
        if start:
            below[:, :start] += rounded(left[:, :start, k] @ right[:, k], dtype)
            _round(below[:, :start], dtype)


def _chain_by_result(
    left: np.ndarray,
    right: np.ndarray,
    cuts: list[int],
    tiling: Tiling,
    out: np.ndarray,
    below: np.ndarray,
    dtype: str,
) -> None:
    k_parts, groups = len(cuts) - 1, left.shape[0]
    columns = Split(groups * right.shape[2], tiling.n_parts)
    keepers = np.concatenate(
        [keeper_rows(left.shape[1], count, k_parts) for count in columns.sizes() if count], axis=1
    )
    kept = keepers.reshape(left.shape[1], groups, right.shape[2]).transpose(1, 0, 2)
    panels = [rounded(left[:, :, a:b] @ right[:, a:b], dtype) for a, b in pairwise(cuts)]
    for piece, panel in enumerate(panels):
        np.add(out, panel, out=out, where=kept >= piece)
        _round(out, dtype)
    for piece in reversed(range(k_parts)):
        np.add(below, panels[piece], out=below, where=kept < piece)
        _round(below, dtype)


def mesh_sum(x: np.ndarray, axes: tuple[int, ...], parts: int, dtype: str = "fp32") -> np.ndarray:
    """Return the sum over `axes` (kept as 1): each PE's share first, then PE after PE."""
    last = axes[-1]
    inner = x.sum(axis=axes[:-1], keepdims=True) if len(axes) > 1 else x
    cut = Split(inner.shape[last], min(parts, inner.shape[last]))
    starts = [cut.start(i) for i in range(cut.parts)]
    shares = rounded(np.moveaxis(np.add.reduceat(inner, starts, axis=last), last, 0), dtype)
    total = shares[0].copy()
    for share in shares[1:]:
        total = rounded(total + share, dtype)
    return np.expand_dims(total, last)


def _softmax(op: Softmax, x: np.ndarray, parts: int, dtype: str) -> np.ndarray:
    x = unseen_hidden(op, x)
    shifted = x - np.max(x, axis=op.axis, keepdims=True)
    powers = np.exp(shifted)
    total = mesh_sum(powers, (op.axis,), parts, dtype)
    return np.asarray(shifted - np.log(total) if op.log else powers / total)


def _normalize(op: Normalize, arrays: Sequence[np.ndarray], parts: int, dtype: str) -> np.ndarray:
    x = arrays[0]
    count = x.dtype.type(np.prod([x.shape[axis] for axis in op.axes]))
    centered = x - mesh_sum(x, op.axes, parts, dtype) / count if op.center else x
    variance = mesh_sum(centered * centered, op.axes, parts, dtype) / count
    result = centered / np.sqrt(variance + x.dtype.type(op.epsilon))
    for operand, combine in zip(arrays[1:], (np.multiply, np.add), strict=False):
        result = combine(result, operand)
    return np.asarray(result.astype(x.dtype, copy=False))


def _reduce(op: Reduce, x: np.ndarray, parts: int, dtype: str) -> np.ndarray:
    if x.dtype.kind != "f" or not op.axes:
        return evaluate(op, (x,))[0]
    total = mesh_sum(x, op.axes, parts, dtype)
    if op.fn == "mean":
        total = total / x.dtype.type(np.prod([x.shape[axis] for axis in op.axes]))
    return np.asarray(total if op.keepdims else np.squeeze(total, axis=op.axes))
