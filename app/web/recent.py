"""Routes of the runs that a tab has had: listed, shown again, deleted. Judges nothing.

A run is named by its number within the tab; no path and no other tab's run can be asked for.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify

from app.web.registry import Registry
from app.web.shelf import ShelfError, ShelvedRun


def add_recent(api: Blueprint, registry: Registry) -> None:
    """Add the routes to the api."""

    @api.post("/reopen/<session>/<int:number>")
    def reopen(session: str, number: int) -> Response:
        registry.reopen(session, number)
        return jsonify({"runs": runs_of(registry, session)})

    @api.post("/delete/<session>/<int:number>")
    def delete(session: str, number: int) -> Response:
        registry.delete(session, number)
        return jsonify({"runs": runs_of(registry, session)})

    @api.errorhandler(ShelfError)
    def not_there(error: ShelfError) -> Response:
        return Response(f"{error}\n", status=409, mimetype="text/plain")


def runs_of(registry: Registry, session: str) -> list[dict[str, Any]]:
    """Return the runs of a tab, the shown one first, then the newest."""
    runs, now = registry.runs(session), registry.now
    return [{**_facts(item, now), "is_shown": item is runs[0]} for item in runs]


def _facts(item: ShelvedRun, now: float) -> dict[str, Any]:
    run = item.debugger.run
    return {
        "number": item.number, "model": run.compiled.graph.name, "machine": run.machine.name,
        "makespan_cycles": run.timeline.makespan, "opened_seconds_ago": now - item.opened,
    }  # fmt: skip
