"""Bytes in the SRAM of a kernel's PEs: what the layout gives away and what holds data when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.program import Buffer, Program
from engine.steps import StepTables
from engine.tallies import Held, add_most
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
    """Allocated and live bytes of every region's fullest PE."""

    program: Program
    allocated: np.ndarray
    """int64 (G,) bytes from the start of SRAM to the end of the highest buffer"""
    live: np.ndarray
    """int64 (G, steps)"""
    held: dict[tuple[str, str, str], tuple[Held, ...]]
    """(kernel, role, tensor) -> chunks of the transfers that share the slots: the most counts"""
    alive: tuple[Held, ...]
    """(K,) an instance is in work"""
    peaks: tuple[int | None, ...]
    """(K,) operation at which the most work space is alive, None without work space"""

    @classmethod
    def of(cls, program: Program, timeline: Timeline, tables: StepTables) -> Occupancy:
        """Work out the occupancy of a run."""
        held = _held(program, timeline) | _held_weights(program, timeline)
        buffers: dict[str, list[Buffer]] = {kernel.id: [] for kernel in program.kernels}
        for buffer in program.buffers:
            buffers[buffer.kernel].append(buffer)
        peaks = tuple(_work_peak(buffers[kernel.id]) for kernel in program.kernels)
        areas = program.areas()
        allocated = np.zeros(len(areas), np.int64)
        live = np.zeros((len(areas), timeline.steps), np.int64)
        found = cls(program, allocated, live, held, tables.alive, peaks)
        for region, (_, kernels) in enumerate(areas):
            change = np.zeros(timeline.steps + 1, np.int64)
            for index in kernels:
                for buffer in buffers[program.kernels[index].id]:
                    top = buffer.offset + buffer.size
                    allocated[region] = max(allocated[region], top)
                    found._add_changes(change, buffer, index)
            np.cumsum(change[:-1], out=live[region])
        return found

    def uses(self, region: int, step: int) -> tuple[SramUse, ...]:
        """Return the buffers of a region's PE in a step, by offset.

        Where kernels take turns only what holds data.
        """
        kernels = self.program.areas()[region][1]
        names = {self.program.kernels[index].id: index for index in kernels}
        found = []
        for buffer in self.program.buffers:
            if buffer.kernel in names:
                live = self.live_bytes(buffer, names[buffer.kernel], step)
                if live or len(kernels) == 1:
                    found.append(
                        SramUse(buffer.name, buffer.role, buffer.offset, buffer.size, live)
                    )
        return tuple(sorted(found, key=lambda use: (use.offset, use.name)))

    def live_bytes(self, buffer: Buffer, kernel: int, step: int) -> int:
        """Return the bytes of a buffer that hold data in a step."""
        if buffer.role in ("code", "weights"):
            return buffer.size
        if buffer.role == "work":
            used = _works_at(buffer, self.peaks[kernel])
            return buffer.size * used * self.alive[kernel].at(step)
        parts = self.held[buffer.kernel, buffer.role, buffer.name]
        return max(part.at(step) for part in parts) * (buffer.size // buffer.count)

    def _add_changes(self, change: np.ndarray, buffer: Buffer, kernel: int) -> None:
        """Add what a buffer gains and loses at the start of each step, in place."""
        if buffer.role in ("code", "weights"):
            change[0] += buffer.size
        elif buffer.role == "work":
            if _works_at(buffer, self.peaks[kernel]):
                self.alive[kernel].add_to(change, buffer.size)
        else:
            parts = self.held[buffer.kernel, buffer.role, buffer.name]
            add_most(parts, change, buffer.size // buffer.count)


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


def _held(program: Program, timeline: Timeline) -> dict[tuple[str, str, str], tuple[Held, ...]]:
    at = timeline.times[:-1]
    held: dict[tuple[str, str, str], tuple[Held, ...]] = {}
    use = 0
    for index, transfer in enumerate(program.transfers):
        mine = slice(*timeline.chunk_start[index : index + 2])
        out = Held.of(timeline.claimed[mine], timeline.left[mine], at)
        key = (transfer.producer, "out slot", transfer.tensor)
        held[key] = (*held.get(key, ()), out)
        for consumer in transfer.consumers:
            freed = timeline.freed[slice(*timeline.use_chunk_start[use : use + 2])]
            held[consumer, "in slot", transfer.tensor] = (
                Held.of(timeline.started[mine], freed, at),
            )
            use += 1
    return held


def _held_weights(
    program: Program, timeline: Timeline
) -> dict[tuple[str, str, str], tuple[Held, ...]]:
    """Streamed weights: from their first wavelet to the end of the instance that uses them."""
    at = timeline.times[:-1]
    index = {kernel.id: i for i, kernel in enumerate(program.kernels)}
    first = len(program.kernels)
    slots = {b.kernel: (b.role, b.name) for b in program.buffers if b.role == "weight slot"}
    return {
        (stream.kernel, *slots[stream.kernel]): (
            Held.of(timeline.start[first + place], timeline.end[index[stream.kernel]], at),
        )
        for place, stream in enumerate(program.streams)
        if stream.kernel in slots
    }
