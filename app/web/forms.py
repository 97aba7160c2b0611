"""What stays in a panel whatever is shown: lines to type into, and the buttons beside them."""

from __future__ import annotations

from typing import Any

from dash import html

from app.commands import COMMANDS


def tab_form(name: str) -> Any:
    """Return the form of a panel, nothing for one that has none."""
    if name == "breaks":
        return _breaks()
    if name == "why":
        return _why()
    if name == "kernels":
        return _kernels()
    return _compare() if name == "compare" else None


def _breaks() -> Any:
    return html.Div(
        [
            _line("break-text", "Condition, or: step 12, cycle 500, kernel ffn1",
                  "such as: sram > 46KB"),
            html.Div(
                [_with_line("Break", "break", "break-text"),
                 _with_line("Watch", "watch", "break-text"),
                 _with_line("Run to it", "until", "break-text")],
                className="buttons",
            ),
            html.Div([_key("reverse", "Reverse"), _key("continue", "Continue")],
                     className="buttons"),
        ],
        className="ask",
    )  # fmt: skip


def _kernels() -> Any:
    return html.Div(
        [
            _line("kernel-filter", "Filter kernels", "conv cycles>1000 utilization<20%"),
            html.Div(
                [html.Button("CSV", className="small", title="Write the rows shown as CSV",
                             **{"data-do": "kernels-csv"}),
                 html.Span(id="kernel-count", className="muted", role="status")],
                className="buttons",
            ),
        ],
        className="ask",
    )  # fmt: skip


def _why() -> Any:
    return html.Div(
        [
            _line("why-text", "What to explain", "pe 3,4 | link 3,4 east | kernel ffn1 | step 12"),
            html.Div(_with_line("Explain", "explain", "why-text"), className="buttons"),
        ],
        className="ask",
    )


def _compare() -> Any:
    return html.Div(
        [
            _line("compare-text", "Recording to compare with", "a .wscope file"),
            html.Div(_with_line("Compare", "compare", "compare-text"), className="buttons"),
        ],
        className="ask",
    )


def _line(place: str, name: str, hint: str) -> Any:
    return html.Div(**{"data-line": place, "data-name": name, "data-hint": hint})


def _with_line(label: str, command: str, place: str) -> Any:
    about = COMMANDS[command]
    return html.Button(
        label, className="small", title=about.help,
        **{"data-do": command, "data-from": place},
    )  # fmt: skip


def _key(command: str, label: str) -> Any:
    about = COMMANDS[command]
    title = f"{about.help} ({about.keys[0]})"
    return html.Button(label, className="small", title=title, **{"data-do": command})
