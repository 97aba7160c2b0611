"""The map's legend: colour bar with ticks, or a swatch a cause. A view in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.palette import cause_colour, hex_table
from app.views.map import MapView, Tick

_STOPS = 17


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
    if view.categories:
        return [_swatches(view, theme), about]
    return [_bar(view, theme), about]


def _swatches(view: MapView, theme: str) -> Any:
    return html.Ul(
        [
            html.Li(
                [html.Span(className="swatch hatched" if name in ("unassigned", "defective")
                           else "swatch", style={"backgroundColor": cause_colour(name, theme)}),
                 name]
            )
            for name in view.categories
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
