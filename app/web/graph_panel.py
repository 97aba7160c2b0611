"""The model graph: boxes that are buttons over a picture of the edges. View in, components out."""

from __future__ import annotations

from typing import Any

from dash import html

from app.units import count
from app.views.graph import GraphBox, GraphEdge, GraphView
from app.web.debug_panels import act
from app.web.svg import Shape, shape

_BEND = 14
"""pixels over which an edge turns from down to across"""


def graph_panel(view: GraphView) -> Any:
    """Return the graph with what opens and closes its scopes."""
    if not view.boxes:
        return [html.P(view.sentence, className="empty")]
    return [
        html.P(view.sentence),
        html.Div(_folds(view), className="buttons folds"),
        html.Div(
            html.Div(
                [_edges(view), *[part for box in view.boxes for part in _box(box)]],
                className="graph-ground",
                style={"width": f"{view.width:.0f}px", "height": f"{view.height:.0f}px"},
            ),
            className="graph", tabIndex=0, role="group", **{"aria-label": view.sentence},
        ),
        html.P("a box selects its kernel, or the place of its kernels; + opens a scope",
               className="muted"),
        html.P(f"standing: {view.standing}", className="muted"),
    ]  # fmt: skip


def _folds(view: GraphView) -> list[Any]:
    buttons = [
        act(f"\u2212 {scope.id}", "fold", scope.id,
            f"Close {scope.id} ({count(scope.nodes)} nodes)")
        for scope in view.opened
    ]  # fmt: skip
    if len(buttons) > 1:
        buttons.insert(0, act("Close all", "fold", "", "Close all scopes"))
    if not view.is_seen:
        title = f"Open the scopes that hold kernel {view.selected}"
        buttons.append(act("Open to the selection", "reveal", "", title))
    return buttons


def _box(box: GraphBox) -> list[Any]:
    """Return the button of a box, and the one that opens it."""
    left, width = box.left, box.width - (26 if box.is_scope else 0)
    look = "node scope" if box.is_scope else "node"
    chosen = f"{look} chosen" if box.is_selected else look
    place = _place(left, box.top, width, box.height)
    told = {"aria-label": box.sentence, "aria-pressed": "true" if box.is_selected else "false"}
    main = html.Button(
        [html.B(box.label), html.Span(box.kind)], className=chosen, style=place,
        title=box.sentence, disabled=not box.kernels, **told, **_goes(box),
    )  # fmt: skip
    if not box.is_scope:
        return [main]
    opener = html.Button(
        "+", className="node opener", title=f"Open {box.id}",
        style=_place(left + width, box.top, 26, box.height),
        **{"aria-label": f"open {box.id}", "data-do": "fold", "data-arg": box.id},
    )  # fmt: skip
    return [main, opener]


def _goes(box: GraphBox) -> dict[str, str]:
    if len(box.kernels) == 1:
        return {"data-do": "kernel", "data-arg": box.kernels[0], "data-then": "focus"}
    if box.place is None:
        return {}
    corners = " ".join(str(side) for side in box.place)
    return {"data-do": "region", "data-args": corners, "data-then": "focus"}


def _place(left: float, top: float, width: float, height: float) -> dict[str, str]:
    sides = {"left": left, "top": top, "width": width, "height": height}
    return {name: f"{value:.0f}px" for name, value in sides.items()}


def _edges(view: GraphView) -> Shape:
    size = {"width": f"{view.width:.0f}", "height": f"{view.height:.0f}", "aria-hidden": "true"}
    head = shape("marker", shape("path", None, "arrow", d="M0 0L6 3L0 6z"), id="arrow",
                 markerWidth=6, markerHeight=6, refX=5, refY=3, orient="auto")  # fmt: skip
    return Shape("svg", [shape("defs", head), *[_edge(edge) for edge in view.edges]], "edges", size)


def _edge(edge: GraphEdge) -> Shape:
    (x, y), *rest = edge.points
    way = [f"M{x:.0f} {y:.0f}"]
    for across, down in rest:
        bend = min(_BEND, abs(down - y) / 2)
        turn = -bend if edge.is_back else bend
        way.append(
            f"C{x:.0f} {y + turn:.0f} {across:.0f} {down - turn:.0f} {across:.0f} {down:.0f}"
        )
        x, y = across, down
    title = shape("title", f"{edge.source} to {edge.target}: {edge.text}")
    look = "edge back" if edge.is_back else "edge"
    return shape("path", title, look, d="".join(way), marker_end="url(#arrow)")
