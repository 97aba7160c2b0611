"""The roofline as a picture with a table below. A frozen view in, components out."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import Any

from dash import html

from app.units import percent
from app.views.roofline import RooflineView, RoofPoint, RoofRow
from app.web.debug_panels import link
from app.web.svg import Shape, picture, pressed, shape, words

_WIDE, _HIGH = 330, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 314, 8, 212
"""where the drawing begins and ends inside the picture"""
_POWERS = str.maketrans(
    "-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)


@dataclass(frozen=True, slots=True)
class _Axes:
    """Powers of ten to pixels."""

    x: tuple[int, int]
    y: tuple[int, int]

    def across(self, value: float) -> float:
        """Return the pixel of a value on the x axis, kept inside."""
        return _along(log10(value), self.x, _LEFT, _RIGHT)

    def up(self, value: float) -> float:
        """Return the pixel of a value on the y axis, kept inside."""
        return _along(log10(value), self.y, _BOTTOM, _TOP)


def _along(power: float, decades: tuple[int, int], begin: int, end: int) -> float:
    share = (power - decades[0]) / (decades[1] - decades[0])
    return begin + (end - begin) * min(1.0, max(0.0, share))


def roofline_panel(view: RooflineView) -> Any:
    """Return the picture, the roofs with their sources, and a row a kernel."""
    if view.whole is None:
        return [html.P(view.sentence, className="empty")]
    silent = f"without arithmetic, so not shown: {', '.join(view.silent)}" if view.silent else ""
    return [
        html.P(view.sentence),
        _picture(view, view.whole),
        html.P(_legend(view), className="muted"),
        html.Table([html.Thead(_head()), html.Tbody([_row(view, p) for p in view.points])],
                   className="kernels"),
        html.P(silent, className="muted") if silent else None,
        html.H3("Roofs, of one PE"),
        html.Table(html.Tbody([_roof_row(roof) for roof in view.roofs]), className="facts"),
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _legend(view: RooflineView) -> str:
    streams = (
        ""
        if not any(p.x_of == "weights" for p in view.points)
        else ("; square: by the bytes through the weight ports")
    )
    return (
        f"round: by the bytes over the ramps{streams}; the line above a point ends where an "
        "instance would be that waits for nothing; the ring is the whole run"
    )


def _picture(view: RooflineView, whole: RoofPoint) -> Shape:
    axes = _Axes(view.x_decades, view.y_decades)
    ground = shape("rect", None, "ground", x=_LEFT, y=_TOP, width=_RIGHT - _LEFT,
                   height=_BOTTOM - _TOP)  # fmt: skip
    marks = [_mark(axes, point, view.selected) for point in view.points if point.x]
    ring = [] if not whole.x else [
        shape("circle", shape("title", whole.sentence), "ring", cx=axes.across(whole.x),
              cy=axes.up(whole.rate), r=6)
    ]  # fmt: skip
    parts = [ground, *_grid(axes), *[part for roof in view.roofs for part in _roof(axes, roof)],
             *marks, *ring]  # fmt: skip
    return picture(_WIDE, _HIGH, parts, f"roofline: {view.sentence}")


def _grid(axes: _Axes) -> list[Shape]:
    parts = []
    for power in _few(axes.x):
        x = axes.across(10.0**power)
        parts.append(shape("line", None, "grid", x1=x, y1=_TOP, x2=x, y2=_BOTTOM))
        parts.append(words(_power(power), x, _BOTTOM + 14, "middle"))
    for power in _few(axes.y):
        y = axes.up(10.0**power)
        parts.append(shape("line", None, "grid", x1=_LEFT, y1=y, x2=_RIGHT, y2=y))
        parts.append(words(_power(power), _LEFT - 4, y + 4, "end"))
    middle = (_TOP + _BOTTOM) / 2
    parts.append(words("operations a byte moved", (_LEFT + _RIGHT) / 2, _BOTTOM + 32, "middle"))
    parts.append(words("operations a cycle a PE", 0, 0, "middle",
                       transform=f"translate(10 {middle}) rotate(-90)"))  # fmt: skip
    return parts


def _few(decades: tuple[int, int]) -> range:
    low, high = decades
    return range(low, high + 1, max(1, (high - low + 5) // 6))


def _power(power: int) -> str:
    return {0: "1", 1: "10", -1: "0.1"}.get(power, f"10{str(power).translate(_POWERS)}")


def _roof(axes: _Axes, roof: RoofRow) -> list[Shape]:
    """Return a roof's line and its name."""
    look = f"roof {roof.kind}"
    if roof.ops_per_cycle is not None:
        y = axes.up(roof.ops_per_cycle)
        return [
            shape("line", None, look, x1=_LEFT, y1=y, x2=_RIGHT, y2=y),
            words(f"{roof.name} {roof.ops_per_cycle:.3g}", _RIGHT - 3, y - 4, f"end {look}"),
        ]
    slope = roof.bytes_per_cycle or 1.0
    low, high = (10.0 ** axes.x[0], 10.0 ** axes.x[1])
    first = max(low, 10.0 ** axes.y[0] / slope)
    last = min(high, 10.0 ** axes.y[1] / slope)
    if last <= first:
        return []
    x1, y1, x2, y2 = (axes.across(first), axes.up(first * slope), axes.across(last),
                      axes.up(last * slope))  # fmt: skip
    return [
        shape("line", None, look, x1=x1, y1=y1, x2=x2, y2=y2),
        words(roof.name, x1 + 8, min(_BOTTOM - 4.0, y1 + 14), look),
    ]


def _mark(axes: _Axes, point: RoofPoint, selected: str | None) -> Shape:
    x, y = axes.across(point.x or 1.0), axes.up(point.rate)
    look = "mark chosen" if point.kernel == selected else "mark"
    body = (
        shape("rect", None, look, x=x - 3.5, y=y - 3.5, width=7, height=7)
        if point.x_of == "weights"
        else shape("circle", None, look, cx=x, cy=y, r=4)
    )
    reach = shape("line", None, f"reach {look}", x1=x, y1=y, x2=x, y2=axes.up(point.inside_rate))
    told = shape("title", point.sentence)
    return Shape("g", [told, reach, body], "dot", pressed("kernel", point.kernel, "focus"))


def _head() -> Any:
    names = (
        ("kernel", ""),
        ("op/B", "operations a byte moved"),
        ("op/cycle", "operations a cycle a PE"),
        ("of its roof", "rate / lowest roof"),
    )
    return html.Tr([html.Th(name, title=title, scope="col") for name, title in names])


def _row(view: RooflineView, point: RoofPoint) -> Any:
    share = f"{100 * min(1.0, point.share):.1f}%"
    name = link(point.kernel, "kernel", point.kernel, f"Select {point.kernel} and zoom to it",
                "focus")  # fmt: skip
    x = "-" if point.x is None else f"{point.x:.3g}"
    return html.Tr(
        [
            html.Td([name, html.Div(point.kind, className="muted")]),
            html.Td(x, className="number"),
            html.Td(f"{point.rate:.3g}", className="number"),
            html.Td([percent(point.share), html.Div(html.Div(style={"width": share}),
                                                    className="meter"),
                     html.Div(point.bound, className="muted")], className="number"),
        ],
        title=point.sentence,
        **{"aria-selected": "true" if point.kernel == view.selected else "false"},
    )  # fmt: skip


def _roof_row(roof: RoofRow) -> Any:
    figure = (f"{roof.ops_per_cycle:.3g} operations a cycle" if roof.ops_per_cycle is not None
              else f"{roof.bytes_per_cycle:.3g} B a cycle")  # fmt: skip
    return html.Tr([html.Th(roof.name, scope="row"),
                    html.Td([figure, html.Div(roof.standing, className="muted")])])  # fmt: skip
