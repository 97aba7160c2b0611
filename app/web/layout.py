"""The page's frame: where each panel sits. Static; scripts and callbacks fill it."""

from __future__ import annotations

from typing import Any

from dash import dcc, html

from app.web.controls import brand, curve_buttons, help_dialog, metric_list, prompt_dialog, step_bar
from app.web.forms import tab_form
from app.web.pages import PAGES

TABS = (
    ("overview", "Overview", "Looking for what holds the makespan."),
    ("inspect", "Inspect", "Click a PE or a kernel on the map to see what it does and holds."),
    ("kernels", "Kernels", "Loading the kernels."),
    ("graph", "Graph", "Laying the model out."),
    ("memory", "Memory", "Looking for the peak of SRAM."),
    ("activations", "Activations", "Looking up how long activations live."),
    ("turn", "Turn", "Looking whose turn it is."),
    ("roofline", "Roofline", "Comparing the kernels with the machine."),
    ("idle", "Idle", "Looking for idle regions."),
    ("why", "Why", "Select a PE or a kernel to have it explained."),
    ("hot", "Hot", "Looking for hot links."),
    ("breaks", "Breaks", "Loading the breakpoints."),
    ("advice", "Advice", "Asking the rules."),
    ("compare", "Compare", "Nothing is compared."),
    ("values", "Values", "Loading the values."),
    ("report", "Report", "Loading the compile report."),
)


def page(epoch: str, base: str = "/") -> Any:
    """Return the whole page for a server's epoch."""
    return html.Div(
        [
            dcc.Store(id="run-signal"),
            dcc.Store(id="values-signal"),
            _header(),
            html.Main([_left(), _map(), _right()], className="middle"),
            _dock(),
            help_dialog(),
            prompt_dialog(),
            html.Div(id="toast", role="status", **{"aria-live": "polite"}),
        ],
        id="page",
        **{"data-epoch": epoch, "data-base": base},
    )


def _header() -> Any:
    buttons = [
        html.Button("Open", **_act("library", "Open another model or recording")),
        html.Button("Go to", **_act("ask-goto", "Go to a step, a PE or a kernel (g)")),
        html.Button("Search", **_act("ask-search", "Search kernels and source nodes (/)")),
        html.Button("Export", **_act("ask-export", "Download what is shown (e)")),
        html.Button("Help", **_act("help", "All commands and keys (?)")),
        html.Button("Theme", **_act("theme", "Switch between dark and light")),
    ]
    return html.Header(
        [brand(), html.Div("Loading the model.", id="header-facts"),
         html.Div(buttons, className="buttons")],
        className="top",
    )  # fmt: skip


def _act(command: str, title: str) -> dict[str, str]:
    return {"data-do": command, "title": title, "className": "small"}


def _left() -> Any:
    return html.Aside(
        [
            html.Section(
                [html.H2("Map"), metric_list(), html.Div(id="legend"), html.Div(id="pooling")]
            ),
            html.Section(
                [html.H2("Knobs"), html.Div(id="knobs"),
                 html.Div([html.Div(id="job"), html.Div(id="delta")], className="outcome")]
            ),
        ],
        className="side",
        **{"aria-label": "map and knobs"},
    )  # fmt: skip


def _map() -> Any:
    canvas = html.Canvas(
        id="mesh", tabIndex=0, role="img", **{"aria-label": "map of all PEs; arrow keys h j k l"}
    )
    picture = html.Div(
        [
            canvas,
            html.Div(id="hover", hidden=True),
            html.Div(id="cover", children="Loading the map.", role="status"),
            html.Div(
                [
                    html.Button("+", **_act("zoom-in", "Zoom in (+)")),
                    html.Button("\u2212", **_act("zoom-out", "Zoom out (-)")),
                    html.Button("Fit", **_act("fit", "Whole mesh (0)")),
                    html.Button("Focus", **_act("focus", "Zoom to the selection (f)")),
                ],
                className="zoom",
            ),
            html.Div(
                [html.Div(id="turn-headline"), html.Ol(id="turn-phases"), html.Ul(id="arrivals")],
                id="arriving",
                role="status",
                hidden=True,
            ),
            html.Div(id="map-sentence"),
        ],
        className="map",
    )
    return html.Div([html.Div(id="notice"), _beside(), picture], className="middle-map")


def _beside() -> Any:
    """Return the map of the run compared with, tied to the other."""
    canvas = html.Canvas(id="mesh-a", role="img", **{"aria-label": "map of the run compared with"})
    return html.Div(
        [canvas, html.Div(id="beside-caption", role="status")],
        id="beside", className="map", hidden=True,
    )  # fmt: skip


def _right() -> Any:
    tabs = [
        html.Button(
            label, id=f"tab-{name}", role="tab",
            **{"data-tab": name, "aria-controls": f"panel-{name}",
               "aria-selected": "true" if name == "inspect" else "false"},
        )
        for name, label, _ in TABS
    ]  # fmt: skip
    panels = [
        html.Div(
            _inside(name, empty), id=f"panel-{name}", className="panel",
            role="tabpanel", hidden=name != "inspect", tabIndex=0,
            **{"aria-labelledby": f"tab-{name}"},
        )
        for name, _, empty in TABS
    ]  # fmt: skip
    tools = [
        html.Button("Copy", **_act("copy-panel", "Copy this panel as text")),
        html.Button("Wide", id="widen", **_act("widen", "Give this panel half of the window"),
                    **{"aria-pressed": "false"}),
    ]  # fmt: skip
    return html.Aside(
        [html.Div([html.Div(tabs, className="tabs", role="tablist"),
                   html.Div(tools, className="buttons tools")], className="tab-bar"), *panels],
        className="side right",
        **{"aria-label": "details"},
    )  # fmt: skip


def _inside(name: str, empty: str) -> Any:
    """Return a panel's content: what stays, then the place that a script fills."""
    waiting = html.P(empty, className="empty")
    if name not in PAGES:
        return waiting
    return [tab_form(name), html.Div(waiting, id=f"fill-{name}")]


def _dock() -> Any:
    time = html.Canvas(
        id="time", role="img",
        **{"aria-label": "kernels over time; click to seek, shift-drag to zoom"},
    )  # fmt: skip
    return html.Footer(
        [step_bar(), html.Div([time, *curve_buttons(), html.Div(id="time-hover", hidden=True)],
                              className="time")],
        className="dock",
    )  # fmt: skip
