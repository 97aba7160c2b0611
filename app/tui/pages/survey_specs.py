"""From views of the whole program to pages: memory, roofline, model graph. Pure functions."""

from __future__ import annotations

from rich.text import Text

from app.tui.pages.table import TableSpec
from app.units import count, percent, size
from app.views.graph import GraphBox, GraphView
from app.views.memory import MemoryView
from app.views.roofline import RooflineView, RoofPoint

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


def roofline_spec(view: RooflineView) -> TableSpec:
    """Return the table of kernels under the roofs of the machine."""
    rows = tuple(
        (point.kernel, point.kind, count(point.ops), _figure(point.x), f"{point.rate:.3g}",
         f"{point.inside_rate:.3g}", f"{point.attainable:.3g}", point.bound, percent(point.share))
        for point in view.points
    )  # fmt: skip
    names = [point.kernel for point in view.points]
    return TableSpec(
        f"Roofline: {view.sentence}  [{view.standing}]",
        ("kernel", "kind", "operations", "op/B", "op/cycle/PE", "inside", "roof", "which", "share"),
        rows, tuple(_roof_detail(view, point) for point in view.points),
        "Enter goes there, Escape closes",
        names.index(view.selected) if view.selected in names else 0,
    )  # fmt: skip


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _roof_detail(view: RooflineView, point: RoofPoint) -> str:
    roofs = [
        f"{roof.name}: {roof.ops_per_cycle:.3g} operations a cycle ({roof.standing})"
        if roof.ops_per_cycle is not None
        else f"{roof.name}: {roof.bytes_per_cycle:.3g} B a cycle ({roof.standing})"
        for roof in view.roofs
    ]
    return "\n".join([point.sentence, *roofs])


def graph_spec(view: GraphView) -> TableSpec:
    """Return the table of the boxes seen, in the order that computes."""
    rows = tuple(
        (("+ " if box.is_scope else "  ") + box.label, box.kind, box.scope, _kernels(box),
         ", ".join(_sources(view, box))[:60])
        for box in view.boxes
    )  # fmt: skip
    start = next((at for at, box in enumerate(view.boxes) if box.is_selected), 0)
    return TableSpec(
        f"Model graph: {view.sentence}  [{view.standing}]",
        ("box", "kind", "in scope", "kernels", "reads from"), rows,
        tuple(_box_detail(view, box) for box in view.boxes),
        "Enter goes there, o opens a scope, c closes the one around, s shows the selected kernel's "
        "nodes, Escape closes", start, keys=("o", "c", "s"),
    )  # fmt: skip


def _kernels(box: GraphBox) -> str:
    return box.kernels[0] if len(box.kernels) == 1 else f"{count(len(box.kernels))} kernels"


def _sources(view: GraphView, box: GraphBox) -> list[str]:
    return [edge.source for edge in view.edges if edge.target == box.id]


def _box_detail(view: GraphView, box: GraphBox) -> str:
    edges = [f"from {edge.source}: {edge.text}" for edge in view.edges if edge.target == box.id]
    return "\n".join([box.sentence, *edges[:5]])
