"""The panels that a tab shows only when it is open, as components in JSON. No rules here."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from app.web.compare_panel import compare_panel
from app.web.debug_panels import breaks_panel, hot_panel, why_panel
from app.web.graph_panel import graph_panel
from app.web.kernel_panel import kernel_table
from app.web.memory_panel import memory_panel
from app.web.moment import plain
from app.web.roofline_panel import roofline_panel
from app.web.turn_panel import activations_panel, turn_panel
from app.web.verdict_panels import advice_panel, overview_panel

if TYPE_CHECKING:
    from app.debugger import Debugger

_MAKERS: dict[str, Callable[[Debugger], Any]] = {
    "overview": lambda session: overview_panel(session.view_bottleneck(), session.view_advice()),
    "kernels": lambda session: kernel_table(session.view_report()),
    "breaks": lambda session: breaks_panel(session.view_breaks()),
    "why": lambda session: why_panel(session.view_explain()),
    "hot": lambda session: hot_panel(session.find_hot()),
    "advice": lambda session: advice_panel(session.view_advice(), session.view_status().job),
    "memory": lambda session: memory_panel(session.view_memory()),
    "activations": lambda session: activations_panel(session.view_activations()),
    "turn": lambda session: turn_panel(session.view_streaming()),
    "roofline": lambda session: roofline_panel(session.view_roofline()),
    "graph": lambda session: graph_panel(session.view_graph()),
    "compare": lambda session: compare_panel(session.view_compare()),
}

PAGES = tuple(_MAKERS)
"""names of the panels of this kind"""


def page_json(session: Debugger, name: str) -> str:
    """Return a panel as JSON.

    Raises:
        KeyError: there is no such panel.
    """
    return json.dumps(_MAKERS[name](session), default=plain)
