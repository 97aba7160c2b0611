"""The panel of SRAM in program order. A frozen view in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import percent, size
from app.views.memory import HolderRow, MemoryView
from app.web.debug_panels import act, link
from app.web.order_curve import Spot, order_curve
from app.web.svg import Shape


def memory_panel(view: MemoryView) -> Any:
    """Return the curve, the peak, and who holds it."""
    if not view.points:
        return [html.P(view.sentence, className="empty")]
    whole = act("Whole wafer", "clear", "", "Select nothing: show the whole wafer")
    return [
        html.P(view.sentence, className=view.severity),
        html.P(["of the ", view.scope, " ", whole if view.scope != "wafer" else None],
               className="muted"),
        _curve(view),
        html.P(_note(view), className="muted"),
        html.H3(f"In use at {view.kernel}, {view.moment}"),
        html.Table(
            [html.Thead(_head()), html.Tbody([_holder(row) for row in view.rows])],
            className="kernels",
        ),
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _curve(view: MemoryView) -> Shape:
    spots = [
        Spot(p.kernel, p.live_bytes, f"{p.kernel}, {p.moment}: {size(p.live_bytes)}")
        for p in view.points
    ]
    limit = view.capacity_bytes if view.capacity_bytes <= view.top_bytes else 0
    return order_curve(
        spots, view.peak, view.top_bytes, f"{view.order} in program order",
        f"SRAM in use in program order: {view.sentence}", limit,
    )  # fmt: skip


def _note(view: MemoryView) -> str:
    place = "the bright line" if view.capacity_bytes <= view.top_bytes else "above this scale"
    return f"a PE has {size(view.capacity_bytes)}: {place}; a click goes to the kernel"


def _head() -> Any:
    names = (("buffer", "tensor or purpose, and its role"), ("from, to", "moments in use"),
             ("bytes", "on the fullest PE"))  # fmt: skip
    return html.Tr([html.Th(name, title=title, scope="col") for name, title in names])


def _holder(row: HolderRow) -> Any:
    slots = f", {row.slots:,} slots" if row.slots > 1 else ""
    meter = html.Div(html.Div(style={"width": f"{100 * row.share:.1f}%"}), className="meter")
    kernel = link(row.kernel, "kernel", row.kernel, f"Select {row.kernel} and zoom to it", "focus")
    return html.Tr(
        [
            html.Td([html.B(row.name), html.Div([row.role, slots, " of ", kernel],
                                                className="muted")]),
            html.Td(row.since if row.since == row.until else f"{row.since} to {row.until}"),
            html.Td([size(row.held_bytes), meter], className="number",
                    title=percent(row.share)),
        ]
    )  # fmt: skip
