"""Cycles and bytes of a kernel's tile: one formula for sizing (vectorised) and for profiles.

A vector operation of n elements costs `set-up + n / rate` (MachineSpec). The products of a
tile run as vector operations along N or along the positions of one chunk, whichever is longer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np

from engine.geometry import Split
from engine.kernels.conv.spec import Conv
from engine.kernels.dequantize.spec import VECTOR_OPS, Scales, matrix_scales, stored_as
from engine.kernels.problem import Problem, Shapes, kernel_problem
from engine.kernels.spec import KernelSpec
from engine.kernels.work import Epilogue, kernel_epilogue
from engine.machine import DTYPE_BYTES, MachineSpec
from engine.program import Tiling

MAX_CHUNKS = 8
"""a vector operation never crosses a chunk; a sample has at most this many"""


class TileCycles(NamedTuple):
    """Cycles of a PE in one instance, int64 arrays of one shape."""

    compute: np.ndarray
    overhead: np.ndarray
    memory: np.ndarray
    transfer: np.ndarray

    @property
    def busy(self) -> np.ndarray:
        """all four together"""
        return np.asarray(self.compute + self.overhead + self.memory + self.transfer)


@dataclass(frozen=True, slots=True)
class KernelModel:
    """A kernel's iteration space, its epilogue and the constants it keeps, ready to be costed."""

    problem: Problem
    epilogue: Epilogue
    streamed: int
    """elements of the streamed operand an instance"""
    stationary: int
    """elements of operands held still that arrive each sample (a second activation)"""
    side_inputs: int
    """elements of other activations read by the epilogue"""
    weights: int
    """elements of the main operation's resident operand"""
    constants: tuple[int, ...]
    """elements of each resident operand of the epilogue"""
    scales: Scales | None = None
    """how the main operation's weights are scaled where they are kept as integers"""


def kernel_model(
    spec: KernelSpec, shapes: Shapes, weights: frozenset[str], accumulate: str = "fp32"
) -> KernelModel:
    """Return the model of a kernel; `weights` names its resident tensors."""
    problem = replace(kernel_problem(spec, shapes), accumulate=accumulate)
    main, stored = spec.main_op, stored_as(spec)
    made = {name for op in spec.ops for name in op.outputs}
    main_weights = [n for n in main.inputs if n in weights or n in stored]
    arriving = [n for n in main.inputs if n not in main_weights]
    beside = [op for op in spec.ops if op is not main and op not in stored.values()]
    read = dict.fromkeys(n for op in beside for n in op.inputs)
    others = [n for n in read if n not in made and n not in weights]
    return KernelModel(
        problem,
        kernel_epilogue(spec, problem, shapes),
        streamed=prod(shapes[arriving[0]]) if arriving else 0,
        stationary=sum(prod(shapes[n]) for n in arriving[1:]),
        side_inputs=sum(prod(shapes[n]) for n in others),
        weights=sum(prod(shapes[n]) for n in main_weights),
        constants=tuple(prod(shapes[n]) for n in read if n in weights),
        scales=_scales(spec, shapes),
    )


def _scales(spec: KernelSpec, shapes: Shapes) -> Scales | None:
    """Return how the main operation's weights are scaled, None where they are floats."""
    for op in stored_as(spec).values():
        whole, scale = (shapes[name] for name in op.inputs[:2])
        conv = isinstance(spec.main_op, Conv)
        return matrix_scales(whole, scale, zeros=len(op.inputs) > 2, conv=conv)
    return None


def tile_cycles(
    model: KernelModel,
    m: np.ndarray,
    k: np.ndarray,
    n: np.ndarray,
    k_parts: np.ndarray,
    machine: MachineSpec,
    dtype: str,
    density: np.ndarray | float = 1.0,
) -> TileCycles:
    """Return the cycles of a tile of m units x k units x n results in a group of k_parts rows.

    The arrays broadcast against each other. `density` is the share of products that are executed:
    those whose weight is not zero, or of a mixture those of the tokens that its experts got (over 1
    for more than an even share); set-up goes with them. A larger tile never takes
    fewer cycles: vector operations are counted by the rows, or chunk columns, of the tile
    (`lines`), not by their rounded length.
    """
    problem, rate = model.problem, machine.rate(dtype)
    bytes_each = DTYPE_BYTES[dtype]
    m_all, k_all = m * problem.m_inner, k * problem.k_inner
    own = -(-(m_all * n) // k_parts)
    multiplies = problem.work in ("mac", "window", "reduce")
    products = m_all * k_all * n * density if multiplies else 0 * own
    lines = problem.serial * np.minimum(m_all // problem.serial, MAX_CHUNKS * n)
    side = own * model.epilogue.vector_ops
    compute = _ceil((products + side) / rate.elements_per_cycle)
    terms = k_all * density if multiplies else 0 * own
    own_lines = model.epilogue.vector_ops * np.maximum(1, lines / k_parts)
    main = rate.setup_cycles * terms * lines
    if model.scales:
        main = _dequantizing(m_all, k_all, n, terms, machine, dtype)
    looked = {"lookup": m_all, "scatter": k_all}.get(problem.work, 0 * own)
    overhead = _ceil(main + rate.setup_cycles * own_lines) + looked + machine.task_start_cycles
    overhead = overhead + machine.loop_cycles * model.epilogue.calls
    overhead = overhead + machine.task_start_cycles * (problem.serial - 1)
    memory = _memory_cycles(products + side, compute, machine, bytes_each)
    transfer = _transfer_cycles(model, m_all, k_all, n, own, k_parts, machine, bytes_each)
    idle = (m == 0) | (n == 0) | (k == 0)
    return TileCycles(*(np.where(idle, 0, part) for part in (compute, overhead, memory, transfer)))


def _dequantizing(
    m: np.ndarray, k: np.ndarray, n: np.ndarray, terms: np.ndarray, machine: MachineSpec, dtype: str
) -> np.ndarray:
    """Return the set-up of a product on integers, and the cycles of making floats of them.

    A PE has room for one row or column of floats. Where vectors run along the results, a row is
    made anew for each position; where they run along the positions of a chunk, a column is made
    once a chunk. The cheaper way is taken. Ports bound the floats a cycle as the rate does.
    """
    rate, size = machine.rate(dtype), DTYPE_BYTES[dtype]
    each = VECTOR_OPS * max(
        1 / rate.elements_per_cycle,
        2 * size / machine.read_bytes_per_cycle,
        size / machine.write_bytes_per_cycle,
    )
    chunks = np.minimum(m, MAX_CHUNKS)
    by_position = rate.setup_cycles * (terms * m + VECTOR_OPS * m * k) + each * m * k * n
    by_result = (
        rate.setup_cycles * (terms * chunks * n + VECTOR_OPS * chunks * n) + each * chunks * k * n
    )
    return np.asarray(np.minimum(by_position, by_result))


def _ceil(cycles: np.ndarray) -> np.ndarray:
    return np.asarray(np.ceil(np.asarray(cycles, np.float64) - 1e-9).astype(np.int64))


def _memory_cycles(
    elements: np.ndarray, compute: np.ndarray, machine: MachineSpec, bytes_each: int
) -> np.ndarray:
    """Cycles that ports add: a vector operation reads two operands and writes one."""
    reads = elements * (2 * bytes_each) / machine.read_bytes_per_cycle
    writes = elements * bytes_each / machine.write_bytes_per_cycle
    return np.asarray(np.maximum(0, _ceil(np.maximum(reads, writes)) - compute))


def _transfer_cycles(
    model: KernelModel,
    m: np.ndarray,
    k: np.ndarray,
    n: np.ndarray,
    own: np.ndarray,
    k_parts: np.ndarray,
    machine: MachineSpec,
    bytes_each: int,
) -> np.ndarray:
    """Cycles in which the core moves wavelets: one a wavelet in, one a wavelet out."""
    problem = model.problem
    per_position = problem.m * problem.n
    if problem.serial > 1:
        state = m * k // problem.k_inner
        arriving = state + share_of(own, model.streamed, per_position)
    elif problem.work == "mac":
        heads = -(-n * problem.batch // problem.n)
        arriving = -share_of(-heads * m * k, model.streamed, problem.m * problem.k * problem.batch)
        arriving = arriving + k * n * (model.stationary > 0)
    elif problem.work == "reduce":
        arriving = m * k * n
    elif problem.work == "scatter":
        arriving = k * n
    else:
        arriving = share_of(own, model.streamed, per_position)
    arriving = arriving + share_of(own, model.side_inputs, per_position)
    gates = problem.k_inner if problem.serial > 1 else 1
    summed = np.where(k_parts > 1, 2 * m * n * gates, 0) if problem.work != "none" else 0 * own
    words = _ceil((arriving + own) * bytes_each / machine.wavelet_bytes)
    return np.asarray(words + _ceil(summed * problem.accumulator_bytes / machine.wavelet_bytes))


def share_of(cells: np.ndarray, total: int, whole: int) -> np.ndarray:
    """Return floor(cells x total / whole), int64: the part of `total` that `cells` of `whole` take.

    The fraction is reduced first: the plain product exceeds 64 bits for a large mixture's update.
    """
    common = math.gcd(total, whole) or 1
    return np.asarray(cells * (total // common) // max(1, whole // common))


def estimate(
    model: KernelModel,
    m_parts: np.ndarray,
    k_parts: np.ndarray,
    n_parts: np.ndarray,
    machine: MachineSpec,
    dtype: str,
) -> np.ndarray:
    """Return the cycles of an instance on many tilings at once: its fullest PE and the sum.

    The arrays broadcast; equal to `profile(...).length` (a test holds them together).
    """
    problem = model.problem
    m = -(-problem.m_units // m_parts)
    k = -(-problem.k_units // k_parts)
    n = -(-problem.n_units // n_parts)
    busy = tile_cycles(model, m, k, n, k_parts, machine, dtype).busy
    return np.asarray(busy + chain_latency(model, k_parts, n_parts, machine))


def chain_latency(
    model: KernelModel, k_parts: np.ndarray, n_parts: np.ndarray, machine: MachineSpec
) -> np.ndarray:
    """Return the cycles the last partial sum spends on its way: hops and ramps.

    A cell pays them in every time step, and those of handing its state to all columns.
    """
    hops = machine.hop_cycles
    ramps = 2 * machine.ramp_cycles
    down = np.where(k_parts > 1, (k_parts - 1) * hops + ramps, 0)
    across = np.where(n_parts > 1, 2 * ((n_parts - 1) * hops + ramps), 0)
    if model.problem.serial > 1:
        return np.asarray(model.problem.serial * (down + across))
    return np.asarray(down + (across if model.epilogue.row_sums else 0))


def working_chunks(problem: Problem) -> int:
    """Return the chunks a sample can be cut into at most: a divisor of the units along M."""
    return max(c for c in range(1, MAX_CHUNKS + 1) if problem.m_units % c == 0)


def row_tiles(problem: Problem, tiling: Tiling) -> tuple[np.ndarray, np.ndarray]:
    """Return (m units, k units) of each row of a region, int64 (rows,) each."""
    m = np.repeat(Split(problem.m_units, tiling.m_parts).sizes(), tiling.k_parts)
    k = np.tile(Split(problem.k_units, tiling.k_parts).sizes(), tiling.m_parts)
    return m, k
