"""The panels of kernels that take turns: whose turn, activations. Views in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import count, percent, size
from app.views.activations import ActivationRow, ActivationsView
from app.views.streaming import (
    NO_TURNS,
    ArrivalRow,
    LeavingRow,
    StreamingView,
    TurnPhase,
)
from app.web.debug_panels import act, link
from app.web.order_curve import Spot, order_curve
from app.web.svg import Shape


def turn_panel(view: StreamingView | None) -> Any:
    """Return the phases of the turn, what arrives and what leaves."""
    if view is None:
        return [html.P(NO_TURNS, className="empty")]
    head = "Next" if view.is_waiting else "Turn"
    names = [_kernel(name) for name in view.turn] or ["no kernel"]
    told = f" ({view.training})" if view.training else ""
    waits = f", which waits: {view.waits_for}" if view.waits_for else ""
    return [
        html.P([f"{head}: ", *names, f"{told}{waits}"]),
        html.Ol([_phase(row) for row in view.phases], className="phases"),
        html.H3("Arriving"),
        _table([_arrival(row) for row in view.arriving], "nothing arrives in this step"),
        html.H3("Leaving through the weight ports") if view.leaving else None,
        _table([_leaving(row) for row in view.leaving], "") if view.leaving else None,
        html.P(view.sentence, className="muted"),
        html.P(f"standing: {view.standing}", className="muted"),
    ]


def _kernel(name: str) -> Any:
    return link(name, "kernel", name, f"Select {name} and zoom to it", "focus")


def _meter(share: float) -> Any:
    return html.Div(html.Div(style={"width": f"{100 * share:.1f}%"}), className="meter")


def _phase(row: TurnPhase) -> Any:
    state = {"now": percent(row.share)}.get(row.state, row.state)
    when = f"cycles {count(row.begin_cycle)} to {count(row.end_cycle)}"
    return html.Li(
        [html.Div([html.B(row.label), html.Span(state, className="badge")]), _meter(row.share),
         html.Div(f"{row.detail}; {when}", className="muted")],
        className=row.state, title=row.sentence,
    )  # fmt: skip


def _table(rows: list[Any], empty: str) -> Any:
    if not rows:
        return html.P(empty, className="muted")
    head = [html.Th(name, scope="col") for name in ("for", "bytes", "cycles left")]
    return html.Table([html.Thead(html.Tr(head)), html.Tbody(rows)], className="kernels")


def _arrival(row: ArrivalRow) -> Any:
    border = f"the last one passes the border in cycle {count(row.until_cycle)}"
    return _moving(row.kernel, f"{row.what}, sample {row.sample}", row, border)


def _leaving(row: LeavingRow) -> Any:
    return _moving(row.kernel, f"{row.what} {row.tensor}, sample {row.sample}", row, row.what)


def _moving(kernel: str, what: str, row: ArrivalRow | LeavingRow, title: str) -> Any:
    names = [part for name in kernel.split(", ") for part in (_kernel(name), " ")]
    return html.Tr(
        [
            html.Td([*names, html.Div(what, className="muted")]),
            html.Td([f"{size(row.sent_bytes)} of {size(row.bytes)}", _meter(row.share)],
                    title=percent(row.share)),
            html.Td(count(row.cycles_left), className="number"),
        ],
        title=title,
    )  # fmt: skip


def activations_panel(view: ActivationsView) -> Any:
    """Return the bytes alive turn by turn, what lowers the peak, and every activation."""
    if not view.rows:
        return [html.P(view.sentence, className="empty")]
    return [
        html.P(view.sentence, className=view.severity),
        _curve(view),
        html.P(view.traffic) if view.traffic else None,
        _remedy(view) if view.remedy else None,
        html.Table(
            [html.Thead(_head()), html.Tbody([_activation(row) for row in view.rows])],
            className="kernels",
        ),
        html.P(f"and {view.more:,} cheaper ones", className="muted") if view.more else None,
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _remedy(view: ActivationsView) -> Any:
    button = act("Set it", "set", f"activation_mb {view.budget_mb}",
                 f"Set activation_mb to {view.budget_mb} and compile again")  # fmt: skip
    return html.Div(
        [html.P(view.remedy), html.Div(button, className="buttons") if view.budget_mb else None],
        className="card",
    )


def _curve(view: ActivationsView) -> Shape:
    spots = [
        Spot(p.kernel, p.bytes, f"turn {p.turn:,}, {p.kernel}: {size(p.bytes)}")
        for p in view.points
    ]
    return order_curve(
        spots, view.peak, view.peak_bytes, "turns in running order; bytes over the wafer",
        f"activations alive: {view.sentence}",
    )  # fmt: skip


def _head() -> Any:
    names = (
        ("activation", "the tensor, and what becomes of it"),
        ("from, to", "kernel that makes it, kernel that reads it last"),
        ("turns", "from the one to the other, both included"),
        ("bytes", "of one copy over the wafer; below what its slots take on the fullest PE"),
        ("cost", "share of all bytes times turns"),
    )
    return html.Tr([html.Th(name, title=title, scope="col") for name, title in names])


def _activation(row: ActivationRow) -> Any:
    peak = html.Span("peak", className="badge warn", title="alive in the fullest turn")
    return html.Tr(
        [
            html.Td([html.B(row.tensor), " ", peak if row.at_peak else None,
                     html.Div(row.fate, className="muted")]),
            html.Td([_kernel(row.made_by), " to ", _kernel(row.last_read_by)]),
            html.Td(count(row.turns), className="number"),
            html.Td([size(row.bytes), html.Div(f"{size(row.pe_bytes)} a PE", className="muted")],
                    className="number"),
            html.Td([percent(row.share), _meter(row.share)], className="number",
                    title=f"{count(row.byte_turns)} byte-turns"),
        ],
        title=row.sentence,
    )  # fmt: skip
