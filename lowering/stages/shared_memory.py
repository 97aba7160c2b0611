"""Memory of PEs on which kernels take turns: one layout, alive from kernel to kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.kernels.cost import KernelModel
from engine.kernels.views import views
from engine.machine import MachineSpec
from engine.program import HOST, Buffer, Kernel, Transfer, WeightStream
from lowering.stages.layout import BufferRequest, plan_layout
from lowering.stages.memory import KernelMemory, held_as, resident_bytes, work_requests


@dataclass(frozen=True, slots=True, eq=False)
class SharedRequests:
    """What all kernels want of the one layout; times are turns."""

    owners: tuple[str, ...]
    requests: tuple[BufferRequest, ...]
    counts: tuple[int, ...]

    @property
    def live_peak(self) -> int:
        """bytes of the fullest turn: no layout needs less"""
        first, last, size = (
            np.array([getattr(each, name) for each in self.requests], np.int64)
            for name in ("first", "last", "size")
        )
        change = np.zeros(int(last.max(initial=0)) + 2, np.int64)
        np.add.at(change, first, size)
        np.subtract.at(change, last + 1, size)
        return int(np.cumsum(change).max())


def shared_memory(
    kernels: Sequence[Kernel], wanted: SharedRequests, machine: MachineSpec
) -> tuple[KernelMemory, ...]:
    """Return the buffers of all kernels in one layout; `live` counts kernels in running order.

    The overflow stands at the kernel that owns the highest buffer.
    """
    layout = plan_layout(wanted.requests, machine.data_sram_bytes)
    base = machine.reserved_sram_bytes
    buffers: dict[str, list[Buffer]] = {kernel.id: [] for kernel in kernels}
    last = len(kernels) - 1
    buffers[kernels[0].id].append(
        Buffer(kernels[0].id, "code", "program and runtime", 0, base, live=(0, last))
    )
    columns = (wanted.owners, wanted.requests, wanted.counts, layout.offsets)
    for owner, request, count, offset in zip(*columns, strict=True):
        buffers[owner].append(
            Buffer(
                owner, request.role, request.name, base + offset, request.size, count,
                (request.first, request.last),
            )
        )  # fmt: skip
    tops = {name: max((b.offset + b.size for b in mine), default=base)
            for name, mine in buffers.items()}  # fmt: skip
    fullest = max(tops, key=lambda name: tops[name])
    return tuple(
        KernelMemory(
            kernel.id, tuple(buffers[kernel.id]), tops[kernel.id],
            layout.overflow if kernel.id == fullest else 0,
        )
        for kernel in kernels
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Result:
    """What a kernel made, kept once for all its readers."""

    name: str
    size: int
    first: int
    last: int
    slots: int

    def with_reader(self, other: _Result) -> _Result:
        """Return the buffer that serves both readers: until the later one."""
        return _Result(
            self.name,
            max(self.size, other.size),
            min(self.first, other.first),
            max(self.last, other.last),
            max(self.slots, other.slots),
        )


def shared_requests(
    kernels: Sequence[Kernel],
    models: Mapping[str, KernelModel],
    transfers: Sequence[Transfer],
    streams: Sequence[WeightStream],
    dtype: str,
) -> SharedRequests:
    """Return what kernels that take turns want; a result is kept once for all its readers."""
    place = {kernel.id: index for index, kernel in enumerate(kernels)}
    end = len(kernels) - 1
    first_waits = any(stream.kernel == kernels[0].id for stream in streams)
    owners: list[str] = []
    requests: list[BufferRequest] = []
    counts: list[int] = []

    def add(owner: str, role: str, name: str, size: int, first: int, last: int, count: int) -> None:
        if size:
            owners.append(owner)
            requests.append(BufferRequest(name, role, size, first, last))
            counts.append(count)

    for stream in streams:
        kernel = kernels[place[stream.kernel]]
        size = resident_bytes(kernel, models[kernel.id], dtype)
        first = place[stream.gate] + 1 if stream.gate else 0
        last = place[kernel.id]
        add(kernel.id, "weight slot", held_as(models[kernel.id]), size, first, last, 1)
    for kernel in kernels:
        turn = place[kernel.id]
        for request in work_requests(kernel, models[kernel.id], dtype):
            add(kernel.id, "work", request.name, request.size, turn, turn, 1)
    seen = {kernel.id: views(kernel.spec) for kernel in kernels}
    results: dict[tuple[str, str], _Result] = {}
    for transfer in transfers:
        start = 0 if transfer.producer == HOST else place[transfer.producer]
        stop = max(end if c == HOST else place[c] for c in transfer.consumers)
        whole = HOST in (transfer.producer, *transfer.consumers)
        first, last = (0, end) if whole else (start, stop)
        arrives = place[transfer.after] + 1 if transfer.after else first
        if transfer.after:
            last = stop
        if transfer.until:
            first, last = start, place[transfer.until] - 1
        elif transfer.leaves and first_waits:  # the next sample starts after it has left
            first = start
        if transfer.producer != HOST:
            size = transfer.out_bytes * transfer.out_slots
            mine = _Result(transfer.tensor, size, first, last, transfer.out_slots)
            viewed = seen[transfer.producer].get(transfer.tensor, transfer.tensor)
            kept = results.setdefault((transfer.producer, viewed), mine)
            results[transfer.producer, viewed] = kept.with_reader(mine)
        for consumer, slots, each in zip(
            transfer.consumers, transfer.in_slots, transfer.in_bytes, strict=True
        ):
            if consumer != HOST:
                add(consumer, "in slot", transfer.tensor, each * slots, arrives, last, slots)
    for (owner, _), kept in results.items():
        add(owner, "out slot", kept.name, kept.size, kept.first, kept.last, kept.slots)
    return SharedRequests(tuple(owners), tuple(requests), tuple(counts))
