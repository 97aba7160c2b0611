"""Routes for other faces of a session: which there are, whether something changed, any view.

A terminal that attaches and a page that follows ask the same. Judges nothing.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from app.remote.reads import reads
from app.remote.wire import encode
from app.version import VERSION
from app.web.registry import Registry, SessionFacts

_FACE_LENGTH = 40


def add_reading(api: Blueprint, registry: Registry) -> None:
    """Add the routes to the api."""

    @api.get("/sessions")
    def sessions() -> Response:
        listed = [_listed(facts) for facts in registry.sessions()]
        return jsonify({"tool": "waferscope", "version": VERSION, "epoch": registry.epoch,
                        "sessions": listed})  # fmt: skip

    @api.get("/news/<session>")
    def news(session: str) -> Response:
        face = request.args.get("face", "")[:_FACE_LENGTH]
        return jsonify(news_of(registry.look(session, face)))

    @api.get("/read/<session>/<name>")
    def read(session: str, name: str) -> Response:
        debugger = registry.get(session)
        wanted = reads().get(name)
        if wanted is None:
            return _refused(f"there is no view '{name[:40]}'; views: {', '.join(reads())}", 404)
        try:
            view = getattr(debugger, name)(**wanted.parse(request.args.to_dict()))
        except (ValueError, LookupError) as error:
            return _refused(_sentence(error), 422)
        return jsonify({"result": encode(view)})


def news_of(facts: SessionFacts | None) -> dict[str, Any]:
    """Return how a session stands, in a few bytes; all empty when it was freed."""
    if facts is None:
        return {"born": None, "revision": 0, "faces": 0, "is_fresh": True, "cursor": None,
                "job": None, "opening": None}  # fmt: skip
    debugger = facts.debugger
    return {
        "born": facts.born, "revision": debugger.revision, "faces": facts.faces,
        "is_fresh": facts.is_fresh, "cursor": encode(debugger.cursor), "job": encode(debugger.job),
        "opening": encode(facts.opening),
    }  # fmt: skip


def _listed(facts: SessionFacts) -> dict[str, Any]:
    run = facts.debugger.run
    return {
        "id": facts.id, "model": run.compiled.graph.name, "machine": run.machine.name,
        "step": facts.debugger.cursor.step, "steps": run.timeline.steps,
        "idle_seconds": facts.idle_seconds, "faces": facts.faces,
    }  # fmt: skip


def _sentence(error: Exception) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def _refused(sentence: str, status: int) -> Response:
    answer = jsonify({"error": sentence})
    answer.status_code = status
    return answer
