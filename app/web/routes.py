"""JSON and bytes for the page's scripts. Each route reads a session, asks a view, answers.

Frames and level tables of a run never change: their addresses name the run, browsers keep them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, jsonify, request

from app.commands import COMMANDS, CommandError
from app.configs.file import ConfigFileError
from app.export.picture import ExportError
from app.export.view_link import view_fragment, with_link
from app.web.difference import difference_answer
from app.web.folders import FolderError, Folders
from app.web.moment import moment_json
from app.web.pages import PAGES, page_json
from app.web.reading import add_reading, news_of
from app.web.registry import Registry, SessionError
from app.web.state import level_table, page_state, page_tables, run_facts
from lowering.config import KnobError

if TYPE_CHECKING:
    from app.debugger import Debugger

_FOR_EVER = "private, max-age=31536000, immutable"
_FAR = 1 << 31
"""beyond any row or column"""
ENDINGS = ("png", "svg", "html", "csv", "npz", "json", "wscope")
"""kinds of files that a browser may download"""


def make_api(registry: Registry, folders: Folders | None = None) -> Blueprint:
    """Return the routes under /api/; a page may name files of the folders."""
    api = Blueprint("waferscope_api", __name__, url_prefix="/api")
    _add_session_routes(api, registry, folders or Folders(()))
    _add_panel_routes(api, registry)
    _add_run_routes(api, registry)
    add_reading(api, registry)

    @api.get("/tables/<epoch>")
    def tables(epoch: str) -> Response:
        return kept(jsonify(page_tables()))

    @api.errorhandler(SessionError)
    def unknown_session(error: SessionError) -> tuple[Response, int]:
        return jsonify({"error": str(error)}), 410

    @api.after_request
    def never_stale(response: Response) -> Response:
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return api


def _add_session_routes(api: Blueprint, registry: Registry, folders: Folders) -> None:
    def state_of(session: str, debugger: Debugger, **more: str) -> Response:
        news = news_of(registry.look(session))
        return jsonify({**more, **page_state(debugger), "news": news, "born": news["born"]})

    @api.get("/state/<session>")
    def state(session: str) -> Response:
        return state_of(session, registry.get(session))

    @api.post("/do/<session>")
    def do(session: str) -> Response:
        debugger = registry.get(session)
        body = request.get_json(silent=True)
        error = perform(debugger, body, folders)
        return state_of(session, debugger, error=error)

    @api.post("/viewport/<session>")
    def viewport(session: str) -> Response:
        debugger = registry.get(session)
        error = show_box(debugger, request.get_json(silent=True))
        return state_of(session, debugger, error=error)


def _add_panel_routes(api: Blueprint, registry: Registry) -> None:
    @api.get("/pe/<session>/<int:row>/<int:col>")
    def pe(session: str, row: int, col: int) -> Response:
        debugger = registry.get(session)
        rows, cols = debugger.run.grid
        if row >= rows or col >= cols:
            return jsonify(None)
        view = debugger.view_pe(row, col)
        return jsonify(view.to_json() if view else None)

    @api.get("/moment/<session>/<theme>")
    def moment(session: str, theme: str) -> Response:
        shown = "light" if theme == "light" else "dark"
        return Response(moment_json(registry.get(session), shown), mimetype="application/json")

    @api.get("/page/<session>/<name>")
    def panel(session: str, name: str) -> Response:
        debugger = registry.get(session)
        if name not in PAGES:
            sentence = f"there is no panel '{name}'; choose one of {', '.join(PAGES)}"
            return Response(sentence, status=404, mimetype="text/plain")
        return Response(page_json(debugger, name), mimetype="application/json")

    @api.get("/export/<session>/<ending>")
    def export(session: str, ending: str) -> Response:
        return _download(registry.get(session), ending)


def perform(debugger: Debugger, body: Any, folders: Folders | None = None) -> str:
    """Run one command sent by a page; returns the error as a sentence, empty when it went well."""
    if not isinstance(body, dict) or not isinstance(body.get("command"), str):
        return 'a request needs a command, such as {"command": "next", "args": []}'
    args = body.get("args", [])
    if not isinstance(args, list) or not all(isinstance(a, (str, int, float)) for a in args):
        return f"'{body['command']}': arguments must be a list of texts and numbers"
    if body["command"] == "export":
        return "the page downloads exports by itself: press e"
    try:
        debugger.do(body["command"], *confined(body["command"], args, folders or Folders(())))
    except (CommandError, KnobError, FolderError, ConfigFileError, ExportError) as error:
        return str(error)
    return ""


def confined(command_id: str, args: list[Any], folders: Folders) -> list[Any]:
    """Return the arguments with each path made one inside the folders.

    Raises:
        FolderError: a path outside.
    """
    command = COMMANDS.get(command_id)
    if command is None or not any(item.type == "path" for item in command.arguments):
        return args
    if command_id == "compare":
        return [a if a in ("", "off") else str(folders.find(str(a), (".wscope",))) for a in args]
    if command_id == "load-config":
        return [str(folders.find(str(a), (".yaml", ".yml"))) for a in args]
    return [str(folders.place(str(a))) for a in args]


def show_box(debugger: Debugger, body: Any) -> str:
    """Show the rectangle of PEs that a canvas shows; returns an error as a sentence."""
    box = body.get("box") if isinstance(body, dict) else None
    sides = [side for side in box if _is_side(side)] if isinstance(box, list) else []
    if not isinstance(box, list) or len(box) != 4 or len(sides) != 4:
        return "a viewport is four whole numbers: row, column, rows, columns"
    debugger.set_viewport(*sides)
    return ""


def _is_side(value: object) -> bool:
    return isinstance(value, int) and abs(value) < _FAR


def _download(debugger: Debugger, ending: str) -> Response:
    if ending not in ENDINGS:
        sentence = f"there is no export '.{ending}'; choose one of {', '.join(ENDINGS)}"
        return Response(sentence, status=404, mimetype="text/plain")
    cursor = debugger.cursor
    model = "".join(c if c.isalnum() else "-" for c in debugger.view_status().model) or "model"
    name = f"{model}-{cursor.metric.replace(':', '-')}-step{cursor.step}.{ending}"
    with tempfile.TemporaryDirectory(prefix="waferscope-") as folder:
        data = Path(debugger.export(Path(folder) / name)).read_bytes()
    if ending == "png":
        data = with_link(data, view_fragment(cursor))
    answer = Response(data, mimetype="application/octet-stream")
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _add_run_routes(api: Blueprint, registry: Registry) -> None:
    @api.get("/run/<session>/<int:run>")
    def facts(session: str, run: int) -> Response:
        debugger = registry.get(session)
        return jsonify(run_facts(debugger)) if debugger.run.id == run else gone()

    @api.get("/timeline/<session>/<int:run>/<int:start>/<int:end>/<int:bins>")
    def timeline(session: str, run: int, start: int, end: int, bins: int) -> Response:
        debugger = registry.get(session)
        if debugger.run.id != run:
            return gone()
        try:
            return jsonify(debugger.view_timeline(bins, start, end).to_json())
        except ValueError as error:
            return Response(str(error), status=404, mimetype="text/plain")

    @api.get("/frame/<session>/<int:run>/<metric>/<int:step>")
    def frame(session: str, run: int, metric: str, step: int) -> Response:
        debugger = registry.get(session)
        if debugger.run.id != run:
            return gone()
        try:
            data = debugger.frame_bytes(metric, step)
        except LookupError as error:
            return Response(str(error.args[0]), status=404, mimetype="text/plain")
        return kept(Response(data, mimetype="application/octet-stream"))

    @api.get("/difference/<session>/<int:run>/<what>/<metric>/<int:step>")
    def difference(session: str, run: int, what: str, metric: str, step: int) -> Response:
        debugger = registry.get(session)
        if debugger.run.id != run or debugger.cursor.step != step:
            return gone()
        return difference_answer(debugger, what, metric)

    @api.get("/levels/<session>/<int:run>/<metric>/<int:log>")
    def levels(session: str, run: int, metric: str, log: int) -> Response:
        debugger = registry.get(session)
        if debugger.run.id != run:
            return gone()
        try:
            data, headers = level_table(debugger.run, metric, bool(log))
        except LookupError as error:
            return Response(str(error.args[0]), status=404, mimetype="text/plain")
        answer = kept(Response(data, mimetype="application/octet-stream"))
        answer.headers.update(headers)
        return answer


def gone() -> Response:
    """Answer for a run that is no longer shown: nothing, the page asks for the state again."""
    return Response(status=204)


def kept(response: Response) -> Response:
    """Have browsers keep an answer whose address always means the same."""
    response.headers["Cache-Control"] = _FOR_EVER
    return response
