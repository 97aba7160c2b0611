"""Bytes of a kernel's tile: weights, slots and partial sums, one formula for sizing and memory."""

from __future__ import annotations

import numpy as np

from engine.kernels.cost import MAX_CHUNKS, KernelModel, share_of
from engine.kernels.dequantize.spec import INTEGER_BYTES, Scales
from engine.kernels.problem import Problem
from engine.machine import DTYPE_BYTES


def weight_bytes(
    model: KernelModel, k: np.ndarray, n: np.ndarray, rows: np.ndarray, cols: np.ndarray, dtype: str
) -> np.ndarray:
    """Return the resident bytes of a tile of k units x n results on a rows x cols region."""
    problem, size = model.problem, DTYPE_BYTES[dtype]
    held = 0 * k * n
    apart = 0 * held
    if model.scales:
        apart = _integer_bytes(model.scales, k * problem.k_inner, n, size)
    elif model.weights:
        cells = k * problem.k_inner * n
        share = problem.batch if _sliced(model) else 1
        if problem.work == "none" and model.weights > problem.n:  # one of them a result
            units = -(-problem.m_units // rows) * problem.m_inner
            held = held - share_of(-units * n, model.weights, problem.m * problem.n)
        elif model.weights > problem.k * problem.n:  # experts that a token does not take
            held = held - share_of(-cells, model.weights, problem.k * problem.n)
        else:
            held = held + -(-cells // share)
    for elements in model.constants:
        spread = cols if elements <= problem.n else rows * cols
        held = held + -(-elements // spread)
    return np.asarray(held * size + apart)


def _integer_bytes(scales: Scales, k: np.ndarray, n: np.ndarray, size: int) -> np.ndarray:
    """Return the bytes of k x n integers, wherever they lie in the weight, and of their scales."""
    beside = _touched(k, scales.k_block, scales.terms) * _touched(n, scales.n_block, scales.results)
    return np.asarray(k * n * INTEGER_BYTES + beside * scales.bytes_each(size))


def _touched(length: np.ndarray, block: int, whole: int) -> np.ndarray:
    """Return the blocks that a run of `length` numbers can touch at most."""
    return np.where(length > 0, np.minimum(whole // block, -(-(length - 1) // block) + 1), 0)


def stored_bytes(model: KernelModel, dtype: str) -> int:
    """Return the bytes of a kernel's weights and constants, each number once."""
    size, constants = DTYPE_BYTES[dtype], sum(model.constants)
    if model.scales is None:
        return (model.weights + constants) * size
    beside = model.scales.count * model.scales.bytes_each(size)
    return model.weights * INTEGER_BYTES + beside + constants * size


def _sliced(model: KernelModel) -> bool:
    """Batched constants hold K x N a group, not K x N for all of N."""
    problem = model.problem
    return model.weights < problem.k * problem.n and problem.batch > 1


def even_chunks(problem: Problem, m_parts: np.ndarray, most: int = MAX_CHUNKS) -> np.ndarray:
    """Return, for each cut of M, the most chunks whose rows are cut evenly, 1 if none is."""
    best = np.ones_like(m_parts)
    for chunks in range(2, most + 1):
        if problem.m_units % chunks == 0:
            even = (m_parts == 1) | ((problem.m_units // chunks) % m_parts == 0)
            best = np.where(even, chunks, best)
    return best


def tile_bytes(
    model: KernelModel,
    m_parts: np.ndarray,
    k_parts: np.ndarray,
    n_parts: np.ndarray,
    dtype: str,
    *,
    whole: bool = False,
    most: int = MAX_CHUNKS,
    results: int = 0,
) -> np.ndarray:
    """Return the bytes of the fullest PE with two slots an edge; what sizing checks.

    A slot holds a chunk, or a whole sample where a neighbour cannot work in chunks. `results`,
    where kernels take turns: how many of its results wait as whole samples for later turns.
    """
    problem, size = model.problem, DTYPE_BYTES[dtype]
    chunks = 1 if whole else even_chunks(problem, m_parts, most)
    m = -(-(problem.m_units // chunks) // m_parts) * problem.m_inner
    k = -(-problem.k_units // k_parts)
    n = -(-problem.n_units // n_parts)
    own = -(-(m * n) // k_parts)
    held = weight_bytes(model, k, n, m_parts * k_parts, n_parts, dtype)
    share = m * n / max(1, problem.m * problem.n)
    if problem.work == "mac":
        streamed = m * k * model.streamed / max(1, problem.m * problem.k_units * problem.batch)
        arriving = streamed + k * n * (model.stationary > 0)
    elif problem.work == "reduce":
        arriving = m * k * n
    elif problem.work == "scatter":
        arriving = k * n
    else:
        arriving = share * model.streamed
    arriving = arriving + -(-(share * model.side_inputs) // k_parts)
    if results:
        units = -(-problem.m_units // m_parts) * problem.m_inner
        slots = (np.minimum(2, chunks) * arriving + results * -(-(units * n) // k_parts)) * size
        work = model.epilogue.calls * own * size
    else:
        slots, work = 2 * (arriving + own) * size, 3 * own * size
    sums = partial_sum_elements(m, n) * problem.accumulator_bytes
    sums = sums + (model.scales is not None) * dequantized_elements(k * problem.k_inner, n) * size
    return np.asarray(held + np.ceil(slots) + work + sums)


def dequantized_elements(terms: np.ndarray, results: np.ndarray) -> np.ndarray:
    """Return the floats a PE makes of its integers at a time: a row or column of its tile."""
    return np.asarray(np.maximum(terms, results))


def partial_sum_elements(positions: np.ndarray, results: np.ndarray) -> np.ndarray:
    """Return the partial sums a PE holds at once: one vector in work, one on its way.

    A vector runs along the results of a position, or along the positions of a chunk, whichever
    is longer; it is summed over K and sent on before the next one begins.
    """
    return np.asarray(np.minimum(positions * results, 2 * np.maximum(positions, results)))
