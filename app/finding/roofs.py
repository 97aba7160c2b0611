"""The roofs of a machine: how many operations a cycle a PE can do, and what feeds it. One rule.

A roof is flat (operations a cycle) or slopes (bytes a cycle: the operations that they allow grow
with the operations done on each byte). Knows no screen.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.finding.intensity import Work
from app.runs.run import Run
from engine.machine import DTYPE_BYTES, MachineSpec


@dataclass(frozen=True, slots=True)
class Roof:
    """One limit, per PE."""

    name: str
    kind: str
    """peak | ports | ramps | weights"""
    ops_per_cycle: float | None
    """of a flat roof, None for one that slopes"""
    bytes_per_cycle: float | None
    """of a roof that slopes, None for a flat one"""
    source: str
    """where the figure comes from"""

    def at(self, work: Work, wavelet_bytes: int) -> float | None:
        """Return the operations a cycle a PE that it allows a kernel; None: it does not bind."""
        if self.bytes_per_cycle is None:
            return self.ops_per_cycle
        words = work.weight_words if self.kind == "weights" else work.ramp_words
        return self.bytes_per_cycle * work.ops / (words * wavelet_bytes) if words else None


def machine_roofs(run: Run) -> tuple[Roof, ...]:
    """Return the roofs of a run's machine; weight ports only where weights are streamed in."""
    machine, dtype = run.machine, run.program.storage
    each = DTYPE_BYTES[dtype]
    reads = machine.read_bytes_per_cycle / (2 * each)
    writes = machine.write_bytes_per_cycle / each
    roofs = [
        Roof(f"{dtype} peak", "peak", machine.peak_flops_per_cycle(dtype), None,
             _source(machine, f"simd {dtype}")),
        Roof("SRAM ports", "ports", 2 * min(reads, writes), None,
             "two operands read and one written an operation; "
             + _source(machine, "read_bytes_per_cycle")),
        Roof("ramps", "ramps", None, float(machine.wavelet_bytes),
             "one wavelet a cycle between router and core, each way"),
    ]  # fmt: skip
    if run.program.streams:
        pes = max(area.area for area, _ in run.program.areas())
        whole = machine.weight_wavelets_per_cycle * machine.wavelet_bytes
        roofs.append(
            Roof("weight ports", "weights", None, whole / pes,
                 f"{machine.weight_wavelets_per_cycle:g} wavelets a cycle for {pes:,} PEs; "
                 + _source(machine, "weight_wavelets_per_cycle"))
        )  # fmt: skip
    return tuple(roofs)


def _source(machine: MachineSpec, field: str) -> str:
    for names, source in machine.sources:
        if field in names.split(", "):
            return source
    return f"as {machine.name} is given"
