"""From views of the whole program to pages: memory, roofline, model graph. Pure functions."""

from __future__ import annotations

from rich.text import Text

from app.tui.pages.table import TableSpec
from app.units import percent, size
from app.views.memory import MemoryView

_BAR = 30


def memory_spec(view: MemoryView) -> TableSpec:
    """Return the table of who holds SRAM at the peak."""
    rows = tuple(
        (row.name, row.role, row.kernel, size(row.held_bytes), percent(row.share), row.since,
         row.until)
        for row in view.rows
    )  # fmt: skip
    return TableSpec(
        f"Memory of the {view.scope}: {view.sentence}  [{view.standing}]",
        ("buffer", "role", "kernel", "bytes", "share", "from", "to"), rows, (),
        "Enter goes to its kernel, o shows the whole order, Escape closes", keys=("o",),
    )  # fmt: skip


def memory_text(view: MemoryView) -> Text:
    """Return SRAM along program order as a text page."""
    text = Text(f"{view.sentence}\n\n")
    for index, point in enumerate(view.points):
        bar = "#" * round(_BAR * point.live_bytes / max(1, view.top_bytes))
        text.append(f"{size(point.live_bytes):>10} {bar:<{_BAR}} ")
        text.append(f"{point.kernel}, {point.moment}")
        text.append("  <- peak\n" if index == view.peak else "\n", "bold")
    return text.append(f"\nstanding     {view.standing}", "dim")
