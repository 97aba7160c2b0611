"""Bytes in the SRAM of a kernel's PEs: what the layout gives away and what holds data when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.program import Buffer, Program
from engine.steps import StepTables, held_chunks
from engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class SramUse:
    """One buffer of a PE in one step."""

    name: str
    role: str
    offset: int
    """bytes from the start of SRAM"""
    size: int
    """bytes of the layout"""
    live: int
    """bytes that hold data"""


@dataclass(frozen=True, slots=True, eq=False)
class Occupancy:
    """Allocated and live bytes of every kernel's fullest PE."""

    program: Program
    allocated: np.ndarray
    """int64 (K,) bytes from the start of SRAM to the end of the highest buffer"""
    live: np.ndarray
    """int64 (K, steps)"""
    held: dict[tuple[str, str, str], np.ndarray]
    """(kernel, role, tensor) -> chunks held in each step, int64 (steps,)"""
    alive: np.ndarray
    """bool (K, steps) an instance is in work"""
    peaks: tuple[int | None, ...]
    """(K,) operation at which the most work space is alive, None without work space"""

    @classmethod
    def of(cls, program: Program, timeline: Timeline, tables: StepTables) -> Occupancy:
        """Work out the occupancy of a run."""
        held = _held(program, timeline)
        allocated = np.zeros(len(program.kernels), np.int64)
        live = np.zeros((len(program.kernels), timeline.steps), np.int64)
        peaks: list[int | None] = []
        for index, kernel in enumerate(program.kernels):
            mine = [b for b in program.buffers if b.kernel == kernel.id]
            allocated[index] = max((b.offset + b.size for b in mine), default=0)
            peaks.append(_work_peak(mine))
            work = sum(b.size for b in mine if _works_at(b, peaks[-1]))
            live[index] = work * tables.alive[index]
            for buffer in mine:
                if buffer.role in ("code", "weights"):
                    live[index] += buffer.size
                elif buffer.role != "work":
                    chunks = held[kernel.id, buffer.role, buffer.name]
                    live[index] += chunks * (buffer.size // buffer.count)
        return cls(program, allocated, live, held, tables.alive, tuple(peaks))

    def uses(self, kernel: str, step: int) -> tuple[SramUse, ...]:
        """Return the buffers of a kernel's PE in a step, by offset."""
        index = [k.id for k in self.program.kernels].index(kernel)
        found = []
        for buffer in self.program.buffers:
            if buffer.kernel == kernel:
                live = self._live_bytes(buffer, index, step)
                found.append(SramUse(buffer.name, buffer.role, buffer.offset, buffer.size, live))
        return tuple(sorted(found, key=lambda use: (use.offset, use.name)))

    def _live_bytes(self, buffer: Buffer, kernel: int, step: int) -> int:
        if buffer.role in ("code", "weights"):
            return buffer.size
        if buffer.role == "work":
            works = self.alive[kernel, step] and _works_at(buffer, self.peaks[kernel])
            return buffer.size if works else 0
        chunks = int(self.held[buffer.kernel, buffer.role, buffer.name][step])
        return chunks * (buffer.size // buffer.count)


def _work_peak(buffers: list[Buffer]) -> int | None:
    """Return the operation at which the most bytes of work space are alive, the first of ties."""
    work = [b for b in buffers if b.role == "work"]
    points = sorted({b.live[0] for b in work})
    return max(
        points,
        key=lambda point: sum(b.size for b in work if _works_at(b, point)),
        default=None,
    )


def _works_at(buffer: Buffer, point: int | None) -> bool:
    """Tell whether a buffer is work space that is alive at an operation."""
    return (
        buffer.role == "work" and point is not None and (buffer.live[0] <= point <= buffer.live[1])
    )


def _held(program: Program, timeline: Timeline) -> dict[tuple[str, str, str], np.ndarray]:
    at = timeline.times[:-1]
    held: dict[tuple[str, str, str], np.ndarray] = {}
    use = 0
    for index, transfer in enumerate(program.transfers):
        mine = slice(*timeline.chunk_start[index : index + 2])
        out = held_chunks(timeline.claimed[mine], timeline.left[mine], at)
        key = (transfer.producer, "out slot", transfer.tensor)
        held[key] = np.maximum(held[key], out) if key in held else out
        for consumer in transfer.consumers:
            freed = timeline.freed[slice(*timeline.use_chunk_start[use : use + 2])]
            held[consumer, "in slot", transfer.tensor] = held_chunks(
                timeline.started[mine], freed, at
            )
            use += 1
    return held
