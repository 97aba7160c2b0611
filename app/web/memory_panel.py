"""The panel of SRAM in program order. A frozen view in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import percent, size
from app.views.memory import HolderRow, MemoryView
from app.web.debug_panels import act, link
from app.web.svg import Shape, line, picture, pressed, shape, words

_WIDE, _HIGH = 330, 150
_LEFT, _TOP, _BOTTOM = 46, 10, 128
"""where the drawing begins and ends inside the picture"""


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
    count = len(view.points)
    each = (_WIDE - _LEFT - 4) / count

    def high(held: int) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * min(1.0, held / max(1, view.top_bytes))

    corners = [
        f"L{_LEFT + (at + side) * each:.1f} {high(point.live_bytes):.1f}"
        for at, point in enumerate(view.points)
        for side in (0, 1)
    ]
    start, end = f"M{_LEFT} {_BOTTOM}", f"L{_LEFT + count * each:.1f} {_BOTTOM}Z"
    peak = _LEFT + (view.peak + 0.5) * each
    top = high(view.live_bytes)
    parts = [
        shape("rect", None, "ground", x=_LEFT, y=_TOP, width=float(count * each),
              height=_BOTTOM - _TOP),
        shape("path", None, "area", d=start + "".join(corners) + end),
        words(size(view.top_bytes), _LEFT - 4, _TOP + 8, "end"),
        words("0 B", _LEFT - 4, _BOTTOM, "end"),
        words(f"{view.order} in program order", _LEFT, _BOTTOM + 16),
        *_limit(view, high(view.capacity_bytes)),
        line(peak, top, peak, _BOTTOM, "mark"),
        shape("circle", None, "mark", cx=peak, cy=top, r=4),
        *[_touch(view, at, each) for at in range(count)],
    ]  # fmt: skip
    return picture(_WIDE, _HIGH, parts, f"SRAM in use in program order: {view.sentence}")


def _limit(view: MemoryView, y: float) -> list[Any]:
    if view.capacity_bytes > view.top_bytes:
        return []
    return [line(_LEFT, y, _WIDE - 4, y, "limit")]


def _note(view: MemoryView) -> str:
    place = "the bright line" if view.capacity_bytes <= view.top_bytes else "above this scale"
    return f"a PE has {size(view.capacity_bytes)}: {place}; a click goes to the kernel"


def _touch(view: MemoryView, at: int, each: float) -> Shape:
    """Return the strip of a point that tells it and selects its kernel."""
    point = view.points[at]
    told = f"{point.kernel}, {point.moment}: {size(point.live_bytes)}"
    return Shape(
        "rect", shape("title", told), "touch",
        {"x": f"{_LEFT + at * each:.1f}", "y": _TOP, "width": f"{each:.2f}",
         "height": _BOTTOM - _TOP, **pressed("kernel", point.kernel, "focus")},
    )  # fmt: skip


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
