"""Zeros in weights: how many products of each tile a machine that harvests sparsity executes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.geometry import Split
from engine.kernels.conv.spec import Conv
from engine.kernels.dequantize import values as dequantize
from engine.kernels.dequantize.spec import stored_as
from engine.kernels.dot.spec import Dot
from engine.kernels.problem import Problem
from engine.kernels.spec import KernelSpec
from engine.machine import MachineSpec
from engine.program import Kernel, Tiling


def kernel_nonzeros(
    spec: KernelSpec,
    problem: Problem,
    tiling: Tiling,
    machine: MachineSpec,
    weights: Mapping[str, np.ndarray],
) -> np.ndarray | None:
    """Return the non-zero weights of each tile, int64 (k_parts, n_parts).

    None where every weight counts: the machine does not skip zeros, the weights are unknown, or
    there is no zero among them.
    """
    op = spec.main_op
    if not machine.harvests_sparsity or not isinstance(op, Dot | Conv):
        return None
    array = _multiplied(spec, op.inputs[1], weights)
    if array is None or np.count_nonzero(array) == array.size:
        return None
    matrix = _matrix(op, array, problem)
    return _tile_counts(matrix, problem, tiling)


def _multiplied(
    spec: KernelSpec, name: str, weights: Mapping[str, np.ndarray]
) -> np.ndarray | None:
    """Return the weights as they are multiplied, None where they are unknown."""
    stored = stored_as(spec).get(name)
    if stored is None:
        return weights.get(name)
    if not all(each in weights for each in stored.inputs):
        return None
    return dequantize.evaluate(stored, [weights[each] for each in stored.inputs])[0]


def _matrix(op: Dot | Conv, array: np.ndarray, problem: Problem) -> np.ndarray:
    """Return the weights as (K, N), True where not zero."""
    used = array != 0
    if isinstance(op, Conv):
        return np.asarray(used.reshape(array.shape[0], -1).T)
    stacked = used.reshape(-1, *array.shape[-2:])
    return np.asarray(stacked.transpose(1, 0, 2).reshape(array.shape[-2], problem.n))


def require_counts(kernel: Kernel, problem: Problem, counts: np.ndarray) -> None:
    """Raise ValueError unless these can be the non-zero weights of a kernel's tiles."""
    tiling = kernel.tiling
    k = Split(problem.k_units, tiling.k_parts).sizes() * problem.k_inner
    n = Split(problem.n_units, tiling.n_parts).sizes()
    shape = (tiling.k_parts, tiling.n_parts)
    if counts.shape != shape or counts.dtype.kind not in "iu":
        raise ValueError(
            f"kernel '{kernel.id}': non-zeros of shape {counts.shape} and dtype {counts.dtype}, "
            f"its tiles want integers of shape {shape}"
        )
    if counts.min() < 0 or (counts > k[:, None] * n).any():
        raise ValueError(f"kernel '{kernel.id}': a tile has more non-zeros than weights, or < 0")


def _tile_counts(matrix: np.ndarray, problem: Problem, tiling: Tiling) -> np.ndarray:
    pieces, columns = Split(problem.k_units, tiling.k_parts), Split(problem.n, tiling.n_parts)
    sums = np.zeros((matrix.shape[0] + 1, matrix.shape[1] + 1), np.int64)
    sums[1:, 1:] = matrix.cumsum(axis=0, dtype=np.int64).cumsum(axis=1)
    rows = [pieces.start(i) * problem.k_inner for i in range(pieces.parts + 1)]
    cols = [columns.start(i) for i in range(columns.parts + 1)]
    corners = sums[np.ix_(rows, cols)]
    return np.asarray(np.diff(np.diff(corners, axis=0), axis=1))
