"""Controls of the page, made from the tables of commands, metrics and strides. Static."""

from __future__ import annotations

from typing import Any

from dash import html

from app.commands import COMMANDS
from app.runs.map_metrics import MAP_METRICS
from app.session.cursor import STRIDES
from app.views.help import HelpRow, view_help
from app.web.icons import icon

_GROUPS = (
    ("work", ("utilization", "cause", "kind", "phase")),
    ("memory", ("sram_live", "sram_allocated")),
    ("network", ("traffic", "link_east", "link_west", "link_north", "link_south")),
)


def brand() -> Any:
    """Return the name and its mark."""
    return html.Div([icon("mark"), html.H1("Waferscope")], className="brand")


def metric_list() -> Any:
    """Return the choice of metrics: the named ones in groups, then one for each cause."""
    named = [name for _, names in _GROUPS for name in names]
    groups = [*_GROUPS, ("cycles by cause", tuple(m for m in MAP_METRICS if m not in named))]
    keys = {c.fixed[0]: c.keys[0] for c in COMMANDS.values() if c.id.startswith("metric-")}
    options = [
        html.Optgroup([_metric_option(name, keys.get(name, "")) for name in names], label=label)
        for label, names in groups
    ]
    select = html.Select(options, id="metric", title="What the map shows (1 to 9)",
                         **{"aria-label": "metric"})  # fmt: skip
    log = html.Button("log", id="log", title="Logarithmic colours (L)", className="small",
                      **{"data-do": "log", "aria-pressed": "false"})  # fmt: skip
    return html.Div([select, log], className="row")


def _metric_option(name: str, key: str) -> Any:
    label = MAP_METRICS[name].label
    return html.Option(f"{label}  ({key})" if key else label, value=name)


def step_bar() -> Any:
    """Return the buttons that move through time, the slider's place and the step's label."""
    moves = [("first", "first", ""), ("back", "back", ""), ("play", "play", "play"),
             ("next", "next", ""), ("last", "last", "")]  # fmt: skip
    buttons = [_step_button(command, shape, name) for command, shape, name in moves]
    strides = [html.Option(name, value=name) for name in STRIDES]
    stride = html.Label(
        ["step by", html.Select(strides, id="stride", title="What one step means (t)")]
    )
    sample = html.Label(["sample", html.Select([], id="sample", title="Sample to follow")])
    return html.Div(
        [
            html.Div(buttons, className="buttons"),
            stride,
            sample,
            html.Div(id="slider"),
            html.Div([html.B(id="step-label"), html.Span(id="step-cycles")], id="step-text"),
        ],
        className="steps",
    )


def curve_buttons() -> list[Any]:
    """Return the buttons beside the curve over time; a script names them."""
    return [
        html.Button("", id="curve", className="link", title="Which curve: the next one",
                    **{"data-do": "curve"}),
        html.Button("", id="curve-top", className="link", title="Go to its highest step",
                    **{"data-do": "curve-top"}),
    ]  # fmt: skip


def _step_button(command_id: str, shape: str, button_id: str) -> Any:
    command = COMMANDS[command_id]
    name = f"{command.label} ({command.keys[0]})"
    extra = {"id": button_id} if button_id else {}
    return html.Button(
        icon(shape), title=name, className="icon", **extra,
        **{"data-do": command_id, "aria-label": name},
    )  # fmt: skip


def help_dialog() -> Any:
    """Return the dialog with every command, by group."""
    rows = view_help().rows
    sections = [
        html.Section(
            [html.H3(group),
             html.Table(html.Tbody([_help_row(row) for row in rows if row.group == group]))]
        )
        for group in dict.fromkeys(row.group for row in rows)
    ]  # fmt: skip
    return html.Dialog(
        [_dialog_head("Commands and keys"), html.Div(sections, className="help")],
        id="help", **{"aria-label": "commands and keys"},
    )  # fmt: skip


def _help_row(row: HelpRow) -> Any:
    keys = [html.Kbd(key) for key in row.keys]
    return html.Tr([html.Td(keys), html.Td(html.Code(row.usage)), html.Td(row.help)])


def prompt_dialog() -> Any:
    """Return the dialog that asks for one line; a script gives it title and input."""
    return html.Dialog(
        [_dialog_head("", "prompt-title"), html.Div(id="prompt-body"),
         html.P(id="prompt-help", className="muted")],
        id="prompt", **{"aria-labelledby": "prompt-title"},
    )  # fmt: skip


def _dialog_head(title: str, title_id: str = "help-title") -> Any:
    close = html.Button("Close", className="small", title="Close (Escape)",
                        **{"data-close": "dialog"})  # fmt: skip
    return html.Div([html.H2(title, id=title_id), close], className="head")
