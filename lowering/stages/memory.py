"""Memory: the buffers of every kernel's PEs, laid out in SRAM, and what does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.kernels.cost import KernelModel, working_chunks
from engine.kernels.footprint import dequantized_elements, partial_sum_elements, weight_bytes
from engine.kernels.work import vector_ops
from engine.machine import DTYPE_BYTES, MachineSpec
from engine.program import Buffer, Kernel, Transfer
from lowering.stages.layout import BufferRequest, Layout, plan_layout

FLOAT_WEIGHTS, INT8_WEIGHTS = "weights", "weights as int8, scales"
"""names of the buffer that holds a kernel's weights and constants"""


@dataclass(frozen=True, slots=True)
class KernelMemory:
    """The SRAM of a kernel's fullest PE."""

    kernel: str
    buffers: tuple[Buffer, ...]
    peak: int
    """bytes from the start of SRAM to the end of the highest buffer, program code included"""
    overflow: int
    """bytes beyond the SRAM, 0 when it fits"""


def kernel_memory(
    kernel: Kernel,
    model: KernelModel,
    transfers: Sequence[Transfer],
    machine: MachineSpec,
    dtype: str,
) -> KernelMemory:
    """Return the layout of a kernel's buffers; `transfers` are those that touch it."""
    wanted = _requests(kernel, model, transfers, dtype)
    layout = _layout(tuple(request for request, _ in wanted), machine.data_sram_bytes)
    base = machine.reserved_sram_bytes
    buffers = [Buffer(kernel.id, "code", "program and runtime", 0, base, live=_whole(kernel))]
    for (request, count), offset in zip(wanted, layout.offsets, strict=True):
        buffers.append(
            Buffer(
                kernel.id, request.role, request.name, base + offset, request.size, count,
                (request.first, request.last),
            )
        )  # fmt: skip
    return KernelMemory(kernel.id, tuple(buffers), base + layout.peak, layout.overflow)


@lru_cache(maxsize=4096)
def _layout(requests: tuple[BufferRequest, ...], capacity: int) -> Layout:
    nameless = tuple(BufferRequest("", r.role, r.size, r.first, r.last, r.align) for r in requests)
    return _shared_layout(nameless, capacity)


@lru_cache(maxsize=4096)
def _shared_layout(requests: tuple[BufferRequest, ...], capacity: int) -> Layout:
    return plan_layout(requests, capacity)


def _whole(kernel: Kernel) -> tuple[int, int]:
    return 0, len(kernel.spec.ops) - 1


def _requests(
    kernel: Kernel, model: KernelModel, transfers: Sequence[Transfer], dtype: str
) -> list[tuple[BufferRequest, int]]:
    first, last = _whole(kernel)
    found = []
    resident = resident_bytes(kernel, model, dtype)
    if resident:
        found.append((BufferRequest(held_as(model), "weights", resident, first, last), 1))
    for transfer in transfers:
        if transfer.producer == kernel.id and transfer.out_bytes:
            size = transfer.out_bytes * transfer.out_slots
            request = BufferRequest(transfer.tensor, "out slot", size, first, last)
            found.append((request, transfer.out_slots))
        for consumer, slots, size in zip(
            transfer.consumers, transfer.in_slots, transfer.in_bytes, strict=True
        ):
            if consumer == kernel.id and size:
                request = BufferRequest(transfer.tensor, "in slot", size * slots, first, last)
                found.append((request, slots))
    return found + [(request, 1) for request in work_requests(kernel, model, dtype)]


def held_as(model: KernelModel) -> str:
    """Return what the buffer of a kernel's weights is called."""
    return FLOAT_WEIGHTS if model.scales is None else INT8_WEIGHTS


def resident_bytes(kernel: Kernel, model: KernelModel, dtype: str) -> int:
    """Return the bytes of a kernel's weights on its fullest PE."""
    tiling, problem = kernel.tiling, model.problem
    k = np.asarray(-(-problem.k_units // tiling.k_parts))
    n = np.asarray(-(-problem.n_units // tiling.n_parts))
    rows = np.asarray(tiling.m_parts * tiling.k_parts)
    return int(weight_bytes(model, k, n, rows, np.asarray(tiling.n_parts), dtype))


def work_requests(kernel: Kernel, model: KernelModel, dtype: str) -> list[BufferRequest]:
    """Partial sums in work, and the result of every operation of the epilogue."""
    problem, tiling, ops = model.problem, kernel.tiling, kernel.spec.ops
    chunks = working_chunks(problem)
    positions = -(-(problem.m_units // chunks) // tiling.m_parts) * problem.m_inner
    columns = -(-problem.n_units // tiling.n_parts)
    results = positions * columns
    own = -(-results // tiling.k_parts) * DTYPE_BYTES[dtype]
    main = kernel.spec.main
    found = []
    if problem.work != "none":
        held = partial_sum_elements(np.asarray(positions), np.asarray(columns))
        size = int(held) * problem.accumulator_bytes
        found.append(BufferRequest("partial sums", "work", size, 0, main))
    if model.scales:
        terms = np.asarray(-(-problem.k_units // tiling.k_parts) * problem.k_inner)
        size = int(dequantized_elements(terms, np.asarray(columns))) * DTYPE_BYTES[dtype]
        found.append(BufferRequest("dequantised weights", "work", size, 0, main))
    for index, op in enumerate(ops):
        if index == main or not vector_ops(op):
            continue
        readers = [i for i, later in enumerate(ops) if set(op.outputs) & set(later.inputs)]
        found.append(
            BufferRequest(op.outputs[0], "work", own, index, max([index, *readers]))
        )  # fmt: skip
    return found
