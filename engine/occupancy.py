"""Bytes in the SRAM of a kernel's PEs: what the layout gives away and what holds data when."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.kernels.views import views
from engine.program import Buffer, Program
from engine.steps import StepTables
from engine.tallies import Held, add_most
from engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class SramUse:
    """One buffer of a PE in one step."""

    kernel: str
    """kernel that it belongs to"""
    name: str
    role: str
    offset: int
    """bytes from the start of SRAM"""
    size: int
    """bytes of the layout"""
    live: int
    """bytes that hold data"""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one transfer holds of a buffer."""

    held: Held
    """chunks"""
    slots: int
    """chunks that the buffer has room for"""


@dataclass(frozen=True, slots=True, eq=False)
class Occupancy:
    """Allocated and live bytes of every region's fullest PE."""

    program: Program
    allocated: np.ndarray
    """int64 (G,) bytes from the start of SRAM to the end of the highest buffer"""
    live: np.ndarray
    """int64 (G, steps)"""
    held: dict[tuple[str, str, str], tuple[Part, ...]]
    """(kernel, role, buffer) -> what each transfer that shares the slots holds: the most counts"""
    alive: tuple[Held, ...]
    """(K,) an instance is in work"""
    peaks: tuple[int | None, ...]
    """(K,) operation at which the most work space is alive, None without work space"""
    spans: np.ndarray
    """int64 (buffers, 2) steps [first, end) outside of which each buffer of the program is empty"""

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
        spans = np.tile((0, timeline.steps), (len(program.buffers), 1))
        found = cls(program, allocated, live, held, tables.alive, peaks, spans)
        found._note_spans()
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
        buffers: Iterable[Buffer] = self.program.buffers
        if len(kernels) > 1:
            filled = (self.spans[:, 0] <= step) & (step < self.spans[:, 1])
            buffers = (self.program.buffers[place] for place in np.flatnonzero(filled))
        found = []
        for buffer in buffers:
            if buffer.kernel in names:
                live = self.live_bytes(buffer, names[buffer.kernel], step)
                if live or len(kernels) == 1:
                    place = buffer.offset, buffer.size
                    found.append(SramUse(buffer.kernel, buffer.name, buffer.role, *place, live))
        return tuple(sorted(found, key=lambda use: (use.offset, use.name)))

    def _note_spans(self) -> None:
        """Write the steps between which each buffer can hold something, in place."""
        index = {kernel.id: place for place, kernel in enumerate(self.program.kernels)}
        for place, buffer in enumerate(self.program.buffers):
            if buffer.role in ("code", "weights"):
                continue
            parts = [self.alive[index[buffer.kernel]]]
            if buffer.role != "work":
                parts = [part.held for part in self._parts(buffer)]
            begun = [int(part.begun[0]) for part in parts if len(part.begun)]
            freed = [int(part.freed[-1]) for part in parts if len(part.freed)]
            self.spans[place] = min(begun, default=0), max(freed, default=0)

    def _parts(self, buffer: Buffer) -> tuple[Part, ...]:
        parts = self.held.get((buffer.kernel, buffer.role, buffer.name))
        if parts is None:
            raise ValueError(
                f"{buffer.role} '{buffer.name}' of kernel '{buffer.kernel}': nothing fills it"
            )
        return parts

    def live_bytes(self, buffer: Buffer, kernel: int, step: int) -> int:
        """Return the bytes of a buffer that hold data in a step."""
        if buffer.role in ("code", "weights"):
            return buffer.size
        if buffer.role == "work":
            used = _works_at(buffer, self.peaks[kernel])
            return buffer.size * used * self.alive[kernel].at(step)
        parts = self._parts(buffer)
        return max(part.held.at(step) * (buffer.size // part.slots) for part in parts)

    def _add_changes(self, change: np.ndarray, buffer: Buffer, kernel: int) -> None:
        """Add what a buffer gains and loses at the start of each step, in place."""
        if buffer.role in ("code", "weights"):
            change[0] += buffer.size
        elif buffer.role == "work":
            if _works_at(buffer, self.peaks[kernel]):
                self.alive[kernel].add_to(change, buffer.size)
        else:
            parts = self._parts(buffer)
            sizes = [buffer.size // part.slots for part in parts]
            add_most([part.held for part in parts], change, sizes)


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


def _held(program: Program, timeline: Timeline) -> dict[tuple[str, str, str], tuple[Part, ...]]:
    at, names = timeline.times[:-1], _out_slots(program)
    held: dict[tuple[str, str, str], tuple[Part, ...]] = {}
    use = 0
    for index, transfer in enumerate(program.transfers):
        mine = slice(*timeline.chunk_start[index : index + 2])
        out = Part(Held.of(timeline.claimed[mine], timeline.left[mine], at), transfer.out_slots)
        name = names.get((transfer.producer, transfer.tensor), transfer.tensor)
        key = (transfer.producer, "out slot", name)
        held[key] = (*held.get(key, ()), out)
        for consumer, slots in zip(transfer.consumers, transfer.in_slots, strict=True):
            freed = timeline.freed[slice(*timeline.use_chunk_start[use : use + 2])]
            held[consumer, "in slot", transfer.tensor] = (
                Part(Held.of(timeline.started[mine], freed, at), slots),
            )
            use += 1
    return held


def _out_slots(program: Program) -> dict[tuple[str, str], str]:
    """Return by (kernel, tensor) the buffer of a result that is kept in another shape."""
    kept: dict[str, list[str]] = {}
    for buffer in program.buffers:
        if buffer.role == "out slot":
            kept.setdefault(buffer.kernel, []).append(buffer.name)
    found = {}
    for kernel in program.kernels:
        seen, mine = views(kernel.spec), kept.get(kernel.id, [])
        by_root = {seen.get(name, name): name for name in mine}
        for tensor in {*seen, *seen.values()}.difference(mine):
            if seen.get(tensor, tensor) in by_root:
                found[kernel.id, tensor] = by_root[seen.get(tensor, tensor)]
    return found


def _held_weights(
    program: Program, timeline: Timeline
) -> dict[tuple[str, str, str], tuple[Part, ...]]:
    """Streamed weights: from their first wavelet to the end of the instance that uses them."""
    at = timeline.times[:-1]
    index = {kernel.id: i for i, kernel in enumerate(program.kernels)}
    first = len(program.kernels)
    slots = {b.kernel: (b.role, b.name) for b in program.buffers if b.role == "weight slot"}
    return {
        (stream.kernel, *slots[stream.kernel]): (
            Part(Held.of(timeline.start[first + place], timeline.end[index[stream.kernel]], at), 1),
        )
        for place, stream in enumerate(program.streams)
        if stream.kernel in slots
    }
