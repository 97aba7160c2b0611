"""What overfills the SRAM where kernels take turns: what all of them keep in the fullest turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.machine import DTYPE_BYTES
from engine.program import Buffer, Program
from lowering.report import Overflow
from lowering.sram_overflow import holder, sram_overflow
from lowering.stages.memory import KernelMemory

HOLDERS = 40
"""buffers named; what is smaller is added up"""


def turn_overflow(memory: KernelMemory, program: Program) -> Overflow:
    """Return what the fullest PE lacks, who holds it in the fullest turn and what would help."""
    turn = _fullest_turn(program)
    held = [b for b in program.buffers if b.live[0] <= turn <= b.live[1]]
    held.sort(key=lambda buffer: -buffer.size)
    most, rest = held[:HOLDERS], held[HOLDERS:]
    holders = [(_owned(buffer), buffer.size) for buffer in most]
    if rest:
        holders.append((f"{len(rest):,} smaller buffers", sum(buffer.size for buffer in rest)))
    return replace(
        sram_overflow(memory, program),
        holders=tuple(holders),
        levers=_levers(program, turn, held),
    )


def _owned(buffer: Buffer) -> str:
    """Name a buffer; weights by their kernel, whose slots are called alike."""
    of = f" of {buffer.kernel}" if buffer.role in ("weight slot", "work") else ""
    return holder(buffer) + of


def _fullest_turn(program: Program) -> int:
    change = np.zeros(len(program.kernels) + 1, np.int64)
    for buffer in program.buffers:
        change[buffer.live[0]] += buffer.size
        change[buffer.live[1] + 1] -= buffer.size
    return int(np.cumsum(change[:-1]).argmax())


def _levers(program: Program, turn: int, held: Sequence[Buffer]) -> tuple[str, ...]:
    """Return what makes the fullest turn smaller, most likely first."""
    phases = {kernel.id: dict(kernel.tags).get("phase", "") for kernel in program.kernels}
    here = program.kernels[turn].id
    kept = sum(b.size for b in held if phases[b.kernel] == "forward" and b.kernel != here)
    weights = sum(b.size for b in held if b.role == "weight slot")
    trains = "backward" in phases.values()
    levers = []
    if DTYPE_BYTES[program.storage] > DTYPE_BYTES["fp16"]:
        levers.append("store weights and activations as fp16 (knob dtype)")
    if any(phases[buffer.kernel] == "optimizer" for buffer in held):
        levers.append("run the optimizer outside (knob optimizer=host)")
    if trains and phases[here] != "forward" and 2 * kept > program.machine.data_sram_bytes:
        levers.append("drop activations and make them again (knob activation_mb)")
    if weights < sum(buffer.size for buffer in held) / 2:
        levers.append("fewer sequences or tokens in a sample (--batch, --sequence)")
    elif not trains:
        levers.append("keep the weights of products as int8 (knob weights)")
    levers.append("use a machine with more PEs (knob machine)")
    return tuple(levers)
