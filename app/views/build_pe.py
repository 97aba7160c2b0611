"""From a run and a place to everything about one PE. A pure function; no screen."""

from __future__ import annotations

from app.finding.hot_links import HOT_LINK
from app.runs.run import Run
from app.units import size
from app.views.build_values import view_tile
from app.views.pe import CauseRow, LinkRow, PEView, SramRow
from engine.program import Kernel


def view_pe(run: Run, step: int, row: int, col: int) -> PEView:
    """Return what PE (row, col) is, did and holds in a step."""
    fields = run.execution.fields
    start, end = run.step_bounds(step)
    kernel_id = fields.kernel_at(row, col, step)
    kernel = run.program.kernel(kernel_id) if kernel_id else None
    capacity = run.machine.sram_bytes
    sram = tuple(
        SramRow(
            use.name, use.role, int(use.offset), int(use.size), use.live > 0, int(use.live),
            int(use.offset + use.size) <= capacity,
        )
        for use in sorted(fields.pe_sram(row, col, step), key=lambda use: use.offset)
    )  # fmt: skip
    links = tuple(
        LinkRow(plane, int(use.words), float(use.load), "warn" if use.load >= HOT_LINK else "ok")
        for plane, use in fields.pe_links(row, col, step).items()
    )
    causes = _causes(run, row, col, step, end - start)
    allocated = int(fields.field("sram_allocated", step)[row, col])
    severity = "alert" if allocated > capacity else "ok"
    has_tile = kernel is not None and kernel.region.contains(row, col)
    values, note = view_tile(run, kernel_id if has_tile else None, row, col)
    return PEView(
        row=row, col=col, step=step, step_cycles=end - start, kernel=kernel_id,
        kernel_kind=_kind(run, kernel_id), tile=tile_sentence(kernel, row, col) if kernel else "",
        causes=causes, sram=sram, sram_capacity=capacity, sram_allocated=allocated,
        sram_live=int(fields.field("sram_live", step)[row, col]), links=links,
        source_nodes=kernel.origin if kernel else (), standing=run.standing, severity=severity,
        sentence=_sentence(row, col, kernel_id, causes, allocated, capacity),
        values=values, values_note=note,
    )  # fmt: skip


def _causes(run: Run, row: int, col: int, step: int, cycles: int) -> tuple[CauseRow, ...]:
    here = run.execution.fields.pe_causes(row, col, step)
    whole = run.execution.fields.pe_causes(row, col, None)
    makespan = max(1, run.timeline.makespan)
    rows = [
        CauseRow(cause, int(here.get(cause, 0)), here.get(cause, 0) / max(1, cycles),
                 int(total), total / makespan)
        for cause, total in whole.items()
        if total or here.get(cause, 0)
    ]  # fmt: skip
    return tuple(sorted(rows, key=lambda item: -item.run_cycles))


def _kind(run: Run, kernel_id: str | None) -> str:
    for row in run.compiled.report.rows:
        if row.name == kernel_id:
            return row.kind
    return ""


def tile_sentence(kernel: Kernel, row: int, col: int) -> str:
    """Say which part of the kernel's matrices a PE holds."""
    tiling, region = kernel.tiling, kernel.region
    if not region.contains(row, col):
        return (
            f"outside the {region.rows}x{region.cols} PEs from row {region.row}, column "
            f"{region.col} on that {kernel.id} takes in its turn: it waits meanwhile"
        )
    group, part = divmod(row - region.row, max(1, tiling.k_parts))
    place = f"row {row - region.row} of {region.rows}, column {col - region.col} of {region.cols}"
    return (
        f"{place} of the region: part {group} of {tiling.m_parts} of M, "
        f"{part} of {tiling.k_parts} of K, {col - region.col} of {tiling.n_parts} of N"
    )


def _sentence(
    row: int,
    col: int,
    kernel: str | None,
    causes: tuple[CauseRow, ...],
    allocated: int,
    capacity: int,
) -> str:
    place = f"PE ({row}, {col})"
    if kernel is None:
        why = causes[0].cause if causes else "unassigned"
        return f"{place} belongs to no kernel: {why} for the whole run"
    now = max(causes, key=lambda item: item.step_cycles, default=None)
    text = f"{place} runs {kernel}"
    if now is not None and now.step_cycles:
        text += f"; in this step mostly {now.cause} ({100 * now.step_share:.0f} %)"
    if allocated > capacity:
        return f"{text}; its SRAM is short by {allocated - capacity:,} B of {capacity:,} B"
    return f"{text}; {size(allocated)} of {size(capacity)} SRAM allocated"
