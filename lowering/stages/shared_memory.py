"""Memory of PEs on which kernels take turns: one layout, alive from kernel to kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.kernels.cost import KernelModel
from engine.machine import MachineSpec
from engine.program import HOST, Buffer, Kernel, Transfer, WeightStream
from lowering.stages.layout import BufferRequest, plan_layout
from lowering.stages.memory import KernelMemory, held_as, resident_bytes, work_requests


def shared_memory(
    kernels: Sequence[Kernel],
    models: Mapping[str, KernelModel],
    transfers: Sequence[Transfer],
    streams: Sequence[WeightStream],
    machine: MachineSpec,
    dtype: str,
) -> tuple[KernelMemory, ...]:
    """Return the buffers of all kernels in one layout; `live` counts kernels in running order.

    The overflow stands at the kernel that owns the highest buffer.
    """
    owners, requests, counts = _requests(kernels, models, transfers, streams, dtype)
    layout = plan_layout(requests, machine.data_sram_bytes)
    base = machine.reserved_sram_bytes
    buffers: dict[str, list[Buffer]] = {kernel.id: [] for kernel in kernels}
    last = len(kernels) - 1
    buffers[kernels[0].id].append(
        Buffer(kernels[0].id, "code", "program and runtime", 0, base, live=(0, last))
    )
    for owner, request, count, offset in zip(owners, requests, counts, layout.offsets, strict=True):
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


def _requests(
    kernels: Sequence[Kernel],
    models: Mapping[str, KernelModel],
    transfers: Sequence[Transfer],
    streams: Sequence[WeightStream],
    dtype: str,
) -> tuple[list[str], list[BufferRequest], list[int]]:
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
        elif transfer.port == "weights" and first_waits:  # the next sample starts after it has left
            first = start
        if transfer.producer != HOST:
            size = transfer.out_bytes * transfer.out_slots
            add(
                transfer.producer,
                "out slot",
                transfer.tensor,
                size,
                first,
                last,
                transfer.out_slots,
            )
        for consumer, slots, each in zip(
            transfer.consumers, transfer.in_slots, transfer.in_bytes, strict=True
        ):
            if consumer != HOST:
                add(consumer, "in slot", transfer.tensor, each * slots, arrives, last, slots)
    return owners, requests, counts
