"""The panels that change with every move, as components in JSON. No rules here.

They go past Dash: its renderer walks the whole page for each answer, which at fifteen steps a
second would leave no time for the map. A script of the page turns them into elements.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dash.development.base_component import Component

from app.web.inspector import inspector
from app.web.legend import legend
from app.web.svg import Shape

if TYPE_CHECKING:
    from app.debugger import Debugger


def show_moment(debugger: Debugger, theme: str) -> tuple[Any, str, Any]:
    """Return legend, map sentence and inspector of the moment shown; theme is dark or light."""
    view = debugger.view_map(1, 1)
    kernel = debugger.view_kernel() if debugger.cursor.selection.kernel else None
    return legend(view, theme), view.sentence, inspector(debugger.view_pe(), kernel, theme)


def moment_json(debugger: Debugger, theme: str) -> str:
    """Return the same as JSON, by the id of the place where each belongs."""
    places = ("legend", "map-sentence", "panel-inspect")
    return json.dumps(dict(zip(places, show_moment(debugger, theme), strict=True)), default=plain)


def plain(value: Any) -> Any:
    """Return a component as JSON knows it; for `json.dumps(default=)`."""
    if isinstance(value, (Component, Shape)):
        return value.to_plotly_json()
    raise TypeError(f"{type(value).__name__} is neither a component nor JSON")
