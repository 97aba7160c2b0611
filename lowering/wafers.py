"""How many wafers would hold a model whose kernels take turns and do not fit one.

The kernels are cut, in program order, into consecutive groups with a wafer each; a buffer is on the
wafer of the kernel that owns it, for as long as on the one wafer there is. What goes from wafer to
wafer is not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from engine.machine import DTYPE_BYTES
from engine.program import Buffer, Kernel, Program
from engine.progress import NO_PROGRESS, Progress
from lowering.report import Overflow, WaferPart, Wafers
from lowering.sram_overflow import sram_overflow
from lowering.stages.layout import BufferRequest, plan_layout
from lowering.stages.memory import KernelMemory

SHRINK = 16
"""a group whose buffers cannot be laid out loses one kernel in this many"""


def wafers_needed(program: Program, progress: Progress = NO_PROGRESS) -> Wafers:
    """Return the wafers for a streaming program that overfills the SRAM of one.

    Each wafer takes the longest run of kernels that fits; leaving kernels away never needs more
    SRAM, so no other cut has fewer wafers, up to gaps that a layout leaves.
    """
    order = [kernel.id for kernel in program.kernels]
    owned: dict[str, list[Buffer]] = {name: [] for name in order}
    for buffer in program.buffers:
        if buffer.role != "code":
            owned[buffer.kernel].append(buffer)
    progress.stage("wafers", len(order), "kernels")
    room, base = program.machine.data_sram_bytes, program.machine.reserved_sram_bytes
    parts: list[WaferPart] = []
    start = 0
    while start < len(order):
        progress.check()
        stop, peak = _longest(order, owned, start, room)
        if peak > room:
            return Wafers(program.machine.name, (), _alone(program, order[start], owned, peak))
        parts.append(WaferPart(order[start], order[stop - 1], base + peak))
        start = stop
    return Wafers(program.machine.name, tuple(parts))


def _longest(
    order: Sequence[str], owned: Mapping[str, Sequence[Buffer]], start: int, room: int
) -> tuple[int, int]:
    """Return the end (excluded) of the longest group from `start`, and its bytes.

    A group of one kernel may need more than there is.
    """
    live: npt.NDArray[np.int64] = np.zeros(len(order), np.int64)
    stop = start
    for name in order[start:]:
        for buffer in owned[name]:
            live[buffer.live[0] : buffer.live[1] + 1] += buffer.size
        if stop > start and live.max() > room:
            break
        stop += 1
    while True:
        peak = _laid_out([b for name in order[start:stop] for b in owned[name]], room)
        if peak <= room or stop == start + 1:
            return stop, peak
        stop -= max(1, (stop - start) // SHRINK)


def _laid_out(buffers: Sequence[Buffer], room: int) -> int:
    """Return the bytes that a layout of these buffers takes."""
    begin = min((buffer.live[0] for buffer in buffers), default=0)
    return _peak(tuple((b.size, b.live[0] - begin, b.live[1] - begin) for b in buffers), room)


@lru_cache(maxsize=64)
def _peak(wanted: tuple[tuple[int, int, int], ...], room: int) -> int:
    """Lay (size, first, last) out; layers that repeat ask for the same, later."""
    return plan_layout([BufferRequest("", "", *each) for each in wanted], room).peak


def _alone(
    program: Program, name: str, owned: Mapping[str, Sequence[Buffer]], peak: int
) -> Overflow:
    """Return what a kernel lacks that has a wafer of its own."""
    machine, kernel = program.machine, program.kernel(name)
    gap = peak - machine.data_sram_bytes
    held = tuple(sorted(owned[name], key=lambda b: -b.size))
    memory = KernelMemory(name, held, machine.reserved_sram_bytes + peak, gap)
    return replace(sram_overflow(memory, program), levers=_levers(program, kernel, held))


def _levers(program: Program, kernel: Kernel, held: Sequence[Buffer]) -> tuple[str, ...]:
    """Return what makes a kernel's own turn smaller, most likely first.

    Activations shrink with the sample; weights and their gradients do not, but a gradient that is
    summed by positions lies on as many rows of PEs as there are positions.
    """
    state = {t.tensor for t in program.transfers if t.leaves} - program.waiting
    sizes = {"weights": 0, "gradients": 0, "activations": 0}
    for buffer in held:
        is_state = buffer.role == "out slot" and buffer.name in state
        kind = "weights" if buffer.role == "weight slot" else "activations"
        sizes["gradients" if is_state else kind] += buffer.size
    most = max(sizes, key=lambda kind: sizes[kind])
    levers = []
    if DTYPE_BYTES[program.storage] > DTYPE_BYTES["fp16"]:
        levers.append("store weights and activations as fp16 (knob dtype)")
    if ("phase", "optimizer") in kernel.tags:
        levers.append("run the optimizer outside (knob optimizer=host)")
    if most == "activations":
        levers.append("fewer sequences or tokens in a sample (--batch, --sequence)")
    if most == "weights" and kernel.family in ("dot", "conv"):
        levers.append("keep the weights of products as int8 (knob weights)")
    if most == "gradients" and kernel.region.rows < program.machine.rows:
        levers.append(
            f"more sequences or tokens in a sample, so that its gradient lies on more than "
            f"{kernel.region.rows:,} of {program.machine.rows:,} rows (--batch, --sequence)"
        )
    return tuple(levers)
