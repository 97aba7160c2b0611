"""From the comparison of two runs to a table page: A, B, difference. Pure functions."""

from __future__ import annotations

from app.tui.pages.table import TableSpec
from app.units import count, size
from app.views.compare import CompareRow, CompareView, KernelChange

_NONE = "-"


def compare_spec(view: CompareView) -> TableSpec:
    """Return the table of figures, causes and kernels of both runs."""
    rows, details = [], []
    for row in view.rows:
        rows.append((row.name, *row.texts, row.verdict))
        details.append(_figure_detail(row))
    for row in view.causes:
        if row.a or row.b:
            rows.append((f"  {row.name}", *row.texts, row.verdict))
            details.append(f"share of PEs x makespan: {_figure_detail(row)}")
    for kernel in view.kernels:
        rows.append((f"kernel {kernel.name}", *_kernel_cells(kernel), kernel.state))
        details.append(kernel.sentence)
    title = f"A: {view.label_a}   B (on screen): {view.label_b}\n{view.sentence}  [{view.standing}]"
    title += "".join(f"\nnote: {note}" for note in view.notes)
    title += (
        f"\nthe cursors are tied: step {view.step_b} of B stands beside step {view.step_a} of A"
    )
    return TableSpec(
        title, ("figure", "A", "B", "difference", "verdict"), tuple(rows), tuple(details),
        "Enter selects a kernel, m shows the map of differences, x ends, Escape closes",
        keys=("m", "x"),
    )  # fmt: skip


def kernel_of(view: CompareView, row: int) -> str | None:
    """Return the kernel that a row of the table stands for, if run B has one there."""
    place = row - len(view.rows) - sum(1 for r in view.causes if r.a or r.b)
    if place < 0 or view.kernels[place].region_b is None:
        return None
    return view.kernels[place].name


def _figure_detail(row: CompareRow) -> str:
    percent = "" if row.percent is None else f" ({row.percent:+.3g} %)"
    return f"{row.name}: {row.texts[0]} -> {row.texts[1]}, {row.texts[2]}{percent}: {row.verdict}"


def _kernel_cells(kernel: KernelChange) -> tuple[str, str, str]:
    """Return region, cycles and SRAM of A and B, and the difference in cycles."""
    a = _kernel_cell(kernel.region_a, kernel.cycles_a, kernel.sram_a)
    b = _kernel_cell(kernel.region_b, kernel.cycles_b, kernel.sram_b)
    if kernel.cycles_a is None or kernel.cycles_b is None:
        return a, b, _NONE
    return a, b, f"{kernel.cycles_b - kernel.cycles_a:+,} cycles"


def _kernel_cell(
    region: tuple[int, int, int, int] | None, cycles: int | None, sram: int | None
) -> str:
    if region is None:
        return _NONE
    words = "{},{} {}x{}".format(*region)
    if cycles is not None:
        words += f" {count(cycles)}"
    return words if sram is None else f"{words} {size(sram)}"
