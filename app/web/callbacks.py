"""Dash callbacks: a signal from the page's scripts in, rendered panels out. No rules here.

A script sets `run-signal` when another run is shown and `values-signal` also when its values are
there; each holds the session and which run it is about. What changes with every move does not go
this way, see `app.web.moment`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dash import Dash, Input, Output
from dash.exceptions import PreventUpdate

from app.web.panels import header, idle_list, overflow_notice, report
from app.web.registry import Registry, SessionError
from app.web.values import values_panel

Signal = dict[str, Any]


def show_run(registry: Registry, signal: Signal | None) -> tuple[Any, ...]:
    """Return header, notice and report of the run shown."""
    view = _debugger(registry, signal).view_report()
    return header(view), overflow_notice(view), report(view)


def show_idle(registry: Registry, signal: Signal | None) -> Any:
    """Return the idle regions of the run shown."""
    return idle_list(_debugger(registry, signal).find_idle("run"))


def show_values(registry: Registry, signal: Signal | None) -> Any:
    """Return the tensors, errors and outputs of the run shown."""
    return values_panel(_debugger(registry, signal).view_values())


def _debugger(registry: Registry, signal: Signal | None) -> Any:
    try:
        return registry.get(str((signal or {}).get("session", "")))
    except SessionError:
        raise PreventUpdate from None


def add_callbacks(app: Dash, registry: Registry) -> None:
    """Bind the functions above to the page."""

    def bind(show: Callable[[Registry, Signal | None], Any], signal: str, *places: str) -> None:
        def on_signal(data: Signal | None) -> Any:
            return show(registry, data)

        outputs = [Output(place, "children") for place in places]
        target = outputs if len(outputs) > 1 else outputs[0]
        app.callback(target, Input(signal, "data"), prevent_initial_call=True)(on_signal)

    bind(show_run, "run-signal", "header-facts", "notice", "panel-report")
    bind(show_idle, "run-signal", "panel-idle")
    bind(show_values, "values-signal", "panel-values")
