"""Routes of the map beside the one on screen: the run compared with, at the same progress.

Its colours follow the scale of the run on screen, so that one legend holds for both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, jsonify

from app.comparison.compare import progress_at, tied_step
from app.runs.frames import metric_scale
from app.runs.map_metrics import MAP_METRICS
from app.session.cursor import Cursor, Viewport
from app.views.base import to_plain
from app.views.build_map import view_map
from app.views.build_streaming import view_streaming
from app.views.turns import of_turn
from app.web.registry import Registry
from app.web.routes import gone, kept
from app.web.state import level_table, stripes

if TYPE_CHECKING:
    from app.debugger import Debugger
    from app.runs.run import Run


def add_beside(api: Blueprint, registry: Registry) -> None:
    """Add the routes to the api; each is empty (204) for runs that are not compared now."""

    @api.get("/beside/<session>/<int:run>/<int:step>")
    def beside(session: str, run: int, step: int) -> Response:
        debugger = registry.get(session)
        other, shown = debugger.compared, debugger.run
        if other is None or shown.id != run or step >= shown.timeline.steps:
            return gone()
        return jsonify(beside_facts(other, shown, step, debugger.cursor))

    @api.get("/beside-frame/<session>/<int:other>/<metric>/<int:step>")
    def beside_frame(session: str, other: int, metric: str, step: int) -> Response:
        debugger = registry.get(session)
        if _compared(debugger, other) is None:
            return gone()
        try:
            data = debugger.compared_frame(metric, step).data
        except LookupError as error:
            return Response(str(error.args[0]), status=404, mimetype="text/plain")
        return kept(Response(data, mimetype="application/octet-stream"))

    @api.get("/beside-levels/<session>/<int:other>/<int:run>/<metric>/<int:log>")
    def beside_levels(session: str, other: int, run: int, metric: str, log: int) -> Response:
        debugger = registry.get(session)
        found = _compared(debugger, other)
        if found is None or debugger.run.id != run:
            return gone()
        if metric not in MAP_METRICS:
            return Response(f"there is no metric '{metric[:40]}'", 404, mimetype="text/plain")
        scale = metric_scale(debugger.run, metric, bool(log))
        data, headers = level_table(found, metric, bool(log), scale)
        answer = kept(Response(data, mimetype="application/octet-stream"))
        answer.headers.update(headers)
        return answer


def _compared(debugger: Debugger, run: int) -> Run | None:
    other = debugger.compared
    return other if other is not None and other.id == run else None


def beside_facts(other: Run, shown: Run, step: int, cursor: Cursor) -> dict[str, Any]:
    """Return what the map of the run compared with shows while the other is at a step."""
    tied = tied_step(other, progress_at(shown, step))
    rows, cols = other.grid
    whole = replace(cursor, step=tied, viewport=Viewport(0, 0, rows, cols), metric="cause")
    outlines = of_turn(view_map(other, whole, 1, 1), view_streaming(other, tied)).outlines
    start, end = other.step_bounds(tied)
    return {
        "run": other.id, "step": tied, "grid": [rows, cols], "outlines": to_plain(outlines),
        "stripes": stripes(),
        "caption": f"A: {other.source} on {other.machine.name}, step {tied:,} of "
        f"{other.timeline.steps:,}, cycles {start:,} to {end:,}; colours by the legend of B",
    }  # fmt: skip
