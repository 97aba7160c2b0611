"""What overfills the SRAM of a kernel: who holds it and what would help."""

from __future__ import annotations

from collections.abc import Sequence

from engine.machine import DTYPE_BYTES
from engine.program import Buffer, Program
from lowering.report import Overflow
from lowering.stages.memory import FLOAT_WEIGHTS, KernelMemory


def sram_overflow(memory: KernelMemory, program: Program) -> Overflow:
    """Return what a kernel's fullest PE lacks, who holds it and what would help."""
    held = sorted(memory.buffers, key=lambda b: -b.size)
    machine = program.machine
    return Overflow(
        resource="SRAM",
        where=f"kernel '{memory.kernel}' on its fullest PE",
        demand=memory.peak,
        bound=machine.sram_bytes,
        gap=memory.overflow,
        unit="B",
        holders=tuple((holder(b), b.size) for b in held),
        levers=_sram_levers(held, program, program.kernel(held[0].kernel).family),
    )


def holder(buffer: Buffer) -> str:
    """Name a buffer among those that fill an SRAM."""
    slots = f" ({buffer.count} slots)" if buffer.count > 1 else ""
    return f"{buffer.role}: {buffer.name}{slots}"


def _sram_levers(held: Sequence[Buffer], program: Program, family: str) -> tuple[str, ...]:
    levers = []
    if DTYPE_BYTES[program.storage] > DTYPE_BYTES["fp16"]:
        levers.append("store weights and activations as fp16 (knob dtype)")
    if family in ("dot", "conv") and held[0].name == FLOAT_WEIGHTS:
        levers.append("keep the weights of products as int8 (knob weights)")
    if held[0].role in ("in slot", "out slot"):
        levers.append("give its edges fewer slots (knob slots)")
    levers.append("use a machine with more PEs (knob machine)")
    return tuple(levers)
