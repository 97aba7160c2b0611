"""Routes that open another model or recording in a tab: by its name in a folder, or sent along.

Bounded: one file is opened at a time, a body has a declared size below the limit and must be as
long as declared; what is in it is judged by those who read it.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from flask import Blueprint, Response, jsonify, request

from app.debugger import Debugger
from app.demo_models import DEMOS
from app.runs.opening import USER_ERRORS
from app.web.folders import MODEL_ENDINGS, FolderError, Folders
from app.web.registry import Registry

MOST_UPLOAD_BYTES = 512 << 20
"""largest file that a page may send"""
_CHUNK = 1 << 20


class UploadError(ValueError):
    """A file that was not sent as it should be."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Opener:
    """Opens files for the tabs of one server, one at a time."""

    def __init__(self, registry: Registry, most_bytes: int = MOST_UPLOAD_BYTES) -> None:
        self._registry = registry
        self._most = most_bytes
        self._busy = threading.Lock()

    def open(self, session: str, source: str | Path, folder: str = "") -> Response:
        """Open a source in a tab; answers 422 with a sentence where it cannot be read."""
        before = self._registry.get(session)
        if not self._busy.acquire(blocking=False):
            return _sentence("another file is being opened; try again when it is there", 503)
        try:
            config = before.run.config if str(source).lower().endswith(".onnx") else None
            opened = Debugger.open(source, config)
        except USER_ERRORS as error:
            return _sentence(_without(folder, str(error)), 422)
        finally:
            self._busy.release()
        self._registry.replace(session, opened)
        return jsonify({"opened": Path(source).name})

    def receive(self, session: str, name: str) -> Response:
        """Keep the body of the request in a file for as long as it takes to open it."""
        self._registry.get(session)
        self._check(name)
        with tempfile.TemporaryDirectory(prefix="waferscope-") as folder:
            path = Path(folder) / f"upload{Path(name).suffix.lower()}"
            self._write(path)
            return self.open(session, path, folder)

    def _check(self, name: str) -> None:
        if Path(name).suffix.lower() not in MODEL_ENDINGS:
            raise UploadError(f"a file must end with {' or '.join(MODEL_ENDINGS)}", 415)
        size = request.content_length
        if size is None:
            raise UploadError("a file needs its size in Content-Length", 411)
        if size > self._most:
            raise UploadError(
                f"the file has {size:,} B, at most {self._most:,} B can be sent; put it into a "
                "folder of the server and open it by its name",
                413,
            )

    def _write(self, path: Path) -> None:
        request.max_content_length = self._most
        size, got = request.content_length or 0, 0
        with path.open("wb") as file:
            while chunk := request.stream.read(_CHUNK):
                file.write(chunk)
                got += len(chunk)
        if got != size or not size:
            raise UploadError(f"{got:,} B of {size:,} B came; send the file again", 400)


def add_opening(api: Blueprint, registry: Registry, folders: Folders, most_bytes: int) -> None:
    """Add the routes to the api."""
    opener = Opener(registry, most_bytes)

    @api.get("/library/<session>")
    def library(session: str) -> Response:
        registry.get(session)
        return jsonify({"demos": list(DEMOS), "files": list(folders.names())})

    @api.post("/open/<session>")
    def open_named(session: str) -> Response:
        body = request.get_json(silent=True)
        name = body.get("name") if isinstance(body, dict) else None
        if not isinstance(name, str):
            return _sentence('a request needs a name, such as {"name": "mlp"}', 400)
        return opener.open(session, name if name in DEMOS else folders.find(name))

    @api.post("/upload/<session>/<name>")
    def upload(session: str, name: str) -> Response:
        return opener.receive(session, name)

    @api.errorhandler(FolderError)
    def no_such_file(error: FolderError) -> Response:
        return _sentence(str(error), 404)

    @api.errorhandler(UploadError)
    def not_sent(error: UploadError) -> Response:
        answer = _sentence(str(error), error.status)
        answer.headers["Connection"] = "close"
        return answer


def _without(folder: str, sentence: str) -> str:
    return sentence.replace(f"{folder}/", "") if folder else sentence


def _sentence(text: str, status: int) -> Response:
    return Response(text + "\n", status=status, mimetype="text/plain")
