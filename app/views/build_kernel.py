"""From a run and a kernel's name to everything about it. A pure function; no screen."""

from __future__ import annotations

from app.operations import operation_text
from app.runs.run import Run
from app.units import count, percent, size
from app.views.kernel import EdgeRow, InstanceRow, KernelView
from engine.program import HOST, Kernel, Transfer

MOST_INSTANCES = 64


def view_kernel(run: Run, name: str) -> KernelView:
    """Return a kernel by id; KeyError if there is none."""
    kernel = run.program.kernel(name)
    index = [k.id for k in run.program.kernels].index(name)
    row = next(r for r in run.compiled.report.rows if r.name == name)
    capacity = run.machine.sram_bytes
    fits = row.sram_bytes <= capacity
    region = kernel.region
    return KernelView(
        name=name, kind=row.kind, region=(region.row, region.col, region.rows, region.cols),
        tiling=(kernel.tiling.m_parts, kernel.tiling.k_parts, kernel.tiling.n_parts),
        cycles=row.cycles, utilization=row.utilization,
        samples_per_mcycle=row.samples_per_mcycle, sram_bytes=row.sram_bytes,
        sram_capacity=capacity, ops=tuple(operation_text(op) for op in kernel.spec.ops),
        source_nodes=kernel.origin, instances=_instances(run, index, row.cycles),
        edges=_edges(run, kernel), tags=kernel.tags, standing=run.standing,
        severity="ok" if fits else "alert",
        sentence=(
            f"{name} ({row.kind}) on {region.rows}x{region.cols} PEs: {count(row.cycles)} cycles "
            f"a sample, {percent(row.utilization)} utilization, {size(row.sram_bytes)} of "
            f"{size(capacity)} SRAM" + ("" if fits else ": does not fit")
        ),
    )  # fmt: skip


def _instances(run: Run, index: int, length: int) -> tuple[InstanceRow, ...]:
    starts, ends = run.timeline.start[index], run.timeline.end[index]
    return tuple(
        InstanceRow(sample, int(start), int(end), max(0, int(end - start) - length))
        for sample, (start, end) in enumerate(zip(starts, ends, strict=True))
    )[:MOST_INSTANCES]


def _edges(run: Run, kernel: Kernel) -> tuple[EdgeRow, ...]:
    rows = []
    for transfer in run.program.transfers:
        if transfer.producer == kernel.id:
            others = "outside" if transfer.leaves else ", ".join(map(_name, transfer.consumers))
            rows.append(_edge(transfer, "out", others, min(transfer.in_slots, default=0)))
        for consumer, slots in zip(transfer.consumers, transfer.in_slots, strict=False):
            if consumer == kernel.id:
                source = "outside" if transfer.comes_back else _name(transfer.producer)
                rows.append(_edge(transfer, "in", source, slots))
    return tuple(rows)


def _edge(transfer: Transfer, direction: str, other: str, in_slots: int) -> EdgeRow:
    words = transfer.legs[0].words * transfer.chunks if transfer.legs else 0
    return EdgeRow(
        transfer.id, transfer.tensor, direction, other, transfer.chunks, transfer.out_slots,
        in_slots, words,
    )  # fmt: skip


def _name(kernel_id: str) -> str:
    return "host" if kernel_id == HOST else kernel_id
