"""Panels that answer why: breakpoints, explanations, hot links. Frozen views in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import count, percent, rate
from app.views.breaks import BreakRow, BreaksView, ChainRow, StopView
from app.views.explain import ExplainView, TieRow
from app.views.hot import HotRow, HotView


def breaks_panel(view: BreaksView) -> Any:
    """Return all breakpoints with what can be done to each, and why the run stopped last."""
    parts: list[Any] = [html.P(view.sentence)]
    if view.stop is not None:
        parts += _stop(view.stop)
    parts += [_break(row) for row in view.rows]
    names = [html.Li([html.Code(name), f" {help_}"]) for name, help_ in view.names]
    parts += [
        html.Details([html.Summary("What a condition may use"), html.Ul(names)]),
        html.P(f"standing: {view.standing}", className="muted"),
    ]
    return parts


def _stop(view: StopView) -> list[Any]:
    also = html.P(f"in the same step in {', '.join(view.also)}") if view.also else None
    return [
        html.H3("Why it stopped"),
        html.Ul([html.Li(line) for line in view.evidence]),
        also,
        chain(view.chain),
        html.H3("Breakpoints"),
    ]


def _break(row: BreakRow) -> Any:
    number = str(row.id)
    switch = ("disable", "Disable") if row.enabled else ("enable", "Enable")
    buttons = [
        act(switch[1], switch[0], number, f"{switch[1]} {row.kind} {number}"),
        act("Once", "once", number, "Let it stop one run and go"),
        act("Ignore next", "ignore", f"{number} {row.ignore + 1}", "Pass over it once more"),
        act("Delete", "delete", number, f"Forget {row.kind} {number}"),
    ]
    return html.Div(
        [
            html.Div([html.B(f"{row.kind} {number} "), html.Code(row.condition)]),
            html.Div(f"{_state(row)}; stopped {row.hits:,} times, turns true {row.stops:,} times "
                     "in this run", className="muted"),
            html.Div([_jump("last", row.last_step), _jump("next", row.next_step)],
                     className="buttons"),
            html.P(row.note, className="muted") if row.note else None,
            html.Div(buttons, className="buttons"),
        ],
        className="card" if row.enabled else "card off",
    )  # fmt: skip


def _state(row: BreakRow) -> str:
    words = ["on" if row.enabled else "off"]
    words += ["once"] if row.once else []
    words += [f"passes {row.ignore:,}"] if row.ignore else []
    return ", ".join(words)


def _jump(way: str, step: int | None) -> Any:
    if step is None:
        return html.Span(f"no {way} one", className="muted")
    return link(f"{way}: step {step:,}", "seek", str(step), f"Show step {step:,}")


def why_panel(view: ExplainView) -> Any:
    """Return the chain from what is selected back to the model's nodes."""
    place = None
    if view.place is not None:
        box = " ".join(str(side) for side in view.place)
        place = link("show it on the map", "region", box, "Select it and zoom to it", "focus")
    return [
        html.H2(view.target),
        html.P(view.sentence),
        html.P(place) if place else None,
        html.H3("What the wait ended with") if view.ties else None,
        html.Ul([_tie(row) for row in view.ties]) if view.ties else None,
        html.P(view.ties_note, className="warn") if view.ties_note else None,
        html.H3("From here back to the model"),
        chain(view.chain),
        html.P(f"standing: {view.standing}", className="muted"),
    ]


def _tie(row: TieRow) -> Any:
    lever = row.lever.replace("_", " ")
    return html.Li([html.B(f"{row.cause} "), row.sentence,
                    html.Span(f" (acts on it: {lever})", className="muted")])  # fmt: skip


def chain(rows: tuple[ChainRow, ...]) -> Any:
    """Return the links of a chain, each with its level."""
    body = [html.Tr([html.Th(row.level, scope="row"), html.Td(row.sentence)]) for row in rows]
    return html.Table(html.Tbody(body), className="facts")


def hot_panel(view: HotView) -> Any:
    """Return the hottest links and ramps; a click selects one and shows its metric."""
    if not view.rows:
        return [html.P(view.sentence, className="empty")]
    return [
        html.P(view.sentence),
        html.Ol([_hot(row) for row in view.rows], className="idle"),
        html.P(f"standing: {view.standing}", className="muted"),
    ]


def _hot(row: HotRow) -> Any:
    is_link = row.plane in ("east", "west", "north", "south")
    metric = f"metric-link_{row.plane}" if is_link else "metric-traffic"
    place = link(f"{row.plane} of ({row.row}, {row.col})", "pe", f"{row.row} {row.col}",
                 "Select its PE and show the load of these links", f"{metric} focus")  # fmt: skip
    senders = [
        html.Li([f"{percent(sender.share)} ", html.Span(sender.ends, title=sender.flow)])
        for sender in row.senders[:4]
    ]
    target = f"link {row.row},{row.col} {row.plane}"
    return html.Li(
        [
            place,
            html.Span(f" {rate(row.load)} a cycle, {count(row.words)} wavelets ",
                      className=row.severity),
            act("Why", "explain", target, "Explain this link back to the model", "why"),
            html.Ul(senders),
        ]
    )  # fmt: skip


def act(label: str, command: str, args: str, title: str, then: str = "") -> Any:
    """Return a small button that runs a command, and others after it."""
    return _button(label, command, args, title, then, "small")


def link(label: str, command: str, args: str, title: str, then: str = "") -> Any:
    """Return the same looking like a link, for what leads to another place."""
    return _button(label, command, args, title, then, "link")


def _button(label: str, command: str, args: str, title: str, then: str, kind: str) -> Any:
    extra = {"data-then": then} if then else {}
    given = {"data-arg" if command == "kernel" else "data-args": args}
    return html.Button(
        label, className=kind, title=title, **{"data-do": command, **given, **extra}
    )  # fmt: skip
