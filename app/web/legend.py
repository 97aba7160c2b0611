"""The map's legend: colour bar with ticks, or a swatch a cause. A view in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.palette import hex_table
from app.runs.map_metrics import BARE
from app.views.map import MapView, Tick

_STOPS = 17
_NAMES = 2
"""kernels named below the legend"""


def spread_out(ticks: tuple[Tick, ...], least: float = 0.13) -> tuple[Tick, ...]:
    """Return the ticks that do not overlap as text, the highest and the lowest first of all."""
    kept: list[Tick] = []
    for tick in sorted(ticks, key=lambda t: (0 < t.position < 1, -t.position)):
        if all(abs(tick.position - other.position) >= least for other in kept):
            kept.append(tick)
    return tuple(sorted(kept, key=lambda t: t.position))


def legend(view: MapView, theme: str) -> Any:
    """Return the legend of a map in a theme (dark | light)."""
    about = html.P([html.Span(view.unit + ", " if view.unit else ""), view.standing],
                   className="muted")  # fmt: skip
    running = html.P(_running(view.running), id="running", title=", ".join(view.running))
    return [_swatches(view, theme) if view.categories else _bar(view, theme), about, running]


def _running(names: tuple[str, ...]) -> str:
    """Name the kernels that run in the step, whether or not their names fit on the map."""
    if not names:
        return "no kernel runs in this step"
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return f"running: {', '.join(names[:_NAMES])}{more}"


def _swatches(view: MapView, theme: str) -> Any:
    table = hex_table(view.palette, theme)
    return html.Ul(
        [
            html.Li(
                [html.Span(className="swatch hatched" if name in BARE
                           else "swatch", style={"backgroundColor": table[code]}),
                 name]
            )
            for code, name in enumerate(view.categories)
        ],
        className="swatches",
    )  # fmt: skip


def _bar(view: MapView, theme: str) -> Any:
    table = hex_table(view.palette, theme)
    stops = [table[round(i * 255 / (_STOPS - 1))] for i in range(_STOPS)]
    gradient = f"linear-gradient(to top, {', '.join(stops)})"
    ticks = [
        html.Li(tick.text, style={"bottom": f"{100 * tick.position:.2f}%"})
        for tick in spread_out(view.ticks)
    ]
    scale = "log scale" if view.scale.log else "one scale for the run"
    return html.Div(
        [
            html.Div(
                [html.Div(className="ramp", style={"background": gradient}),
                 html.Ul(ticks, className="ticks")],
                className="bar",
            ),
            html.P(
                [html.Span(className="swatch hatched"), f"no kernel here; {scale}"],
                className="muted",
            ),
        ]
    )  # fmt: skip
