"""The bytes of the map that compares two runs. A view in, an answer out; judges nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flask import Response

from app.commands import CommandError

if TYPE_CHECKING:
    from app.debugger import Debugger


def difference_answer(debugger: Debugger, what: str, metric: str) -> Response:
    """Return one code a PE (0 lowest, 128 equal, 255 highest); the header X-About explains it.

    Nothing (204) when no run is compared; 404 with a sentence for what cannot be shown.
    """
    rows, cols = debugger.run.grid
    try:
        view = debugger.view_difference(rows, cols, what, metric)
    except CommandError as error:
        return Response(str(error), status=404, mimetype="text/plain")
    if view is None:
        return Response(status=204)
    if view.grid != (rows, cols):
        sentence = (
            f"the machines have different grids ({view.grid[0]}x{view.grid[1]} in common, {rows}x"
            f"{cols} on screen), so PEs cannot be coloured; the table compares them"
        )
        return Response(sentence, status=404, mimetype="text/plain")
    about = {
        "label": view.label, "unit": view.unit, "limit": view.limit, "palette": view.palette,
        "sentence": view.sentence, "standing": view.standing, "steps": view.steps,
        "ticks": [[tick.position, tick.text] for tick in view.ticks],
    }  # fmt: skip
    answer = Response(view.values.tobytes(), mimetype="application/octet-stream")
    answer.headers["X-About"] = json.dumps(about)
    return answer
