"""Routes that open another model or recording in a tab: by its name in a folder, or sent along.

A file is opened by a worker of the tab, with progress and cancel; no request waits for it. Bounded:
one file is opened at a time, a body has a declared size below the limit and must be as long as
declared, a recording may unpack to so much and no more; what is in it is judged by its readers.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import threading
import weakref
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Blueprint, Response, jsonify, request

from app.debugger import Debugger
from app.demo_models import DEMOS
from app.remote.wire import encode
from app.runs.opening import USER_ERRORS
from app.views.build_refusal import view_refusal
from app.views.refusal import RefusalView
from app.web.folders import MODEL_ENDINGS, FolderError, Folders
from app.web.recent import runs_of
from app.web.registry import Registry
from app.web.tab import OpeningError
from engine.progress import Cancelled, Progress

MOST_UPLOAD_BYTES = 512 << 20
"""largest file that a page may send"""
MOST_UNPACKED_BYTES = 2 << 30
"""what the sections of a recording may hold together, unpacked"""
_SAID: tuple[type[Exception], ...] = (*USER_ERRORS, OpeningError)
"""errors whose message is for the page"""
_FAULT = "the server has a fault; the terminal it runs in says which"
_MOST_NAME = 80
"""characters kept of the name of a file that was sent"""
_CHUNK = 1 << 20
_TURN_SECONDS = 0.05
"""time between two looks whether a file that waits for another was cancelled"""


class UploadError(ValueError):
    """A file that was not sent as it should be."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class _Scrap:
    """A folder of its own that is gone as soon as nobody needs it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="waferscope-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Opener:
    """Opens files for the tabs of one server, one at a time."""

    def __init__(self, registry: Registry, most_bytes: int = MOST_UPLOAD_BYTES) -> None:
        self._registry = registry
        self._most = most_bytes
        self._turn = threading.Lock()

    def open(
        self, session: str, source: str | Path, name: str, scrap: _Scrap | None = None
    ) -> Response:
        """Begin to open a source in a tab; how it stands is in the tab's news."""
        before = self._registry.get(session)

        def keep(refusal: RefusalView) -> None:
            self._registry.refuse(session, refusal)

        config = before.run.config if str(source).lower().endswith(".onnx") else None

        def work(progress: Progress) -> Debugger:
            try:
                with self._alone(progress), _said(name, scrap, keep):
                    if str(source).lower().endswith(".wscope"):
                        check_unpacked(Path(source))
                    return Debugger.open(source, config, progress=progress)
            finally:
                if scrap is not None:
                    scrap.remove()

        state = self._registry.opening(session).start(
            name, work, lambda opened: self._registry.replace(session, opened)
        )
        answer = jsonify({"opening": encode(state)})
        answer.status_code = 202
        return answer

    @contextmanager
    def _alone(self, progress: Progress) -> Iterator[None]:
        """Wait until no other file is being opened."""
        progress.stage("waiting for another file")
        while not self._turn.acquire(timeout=_TURN_SECONDS):
            progress.check()
        try:
            yield
        finally:
            self._turn.release()

    def receive(self, session: str, name: str) -> Response:
        """Keep the body of the request in a file for as long as it takes to open it."""
        self._registry.get(session)
        self._check(name)
        scrap = _Scrap()
        kept = re.sub(r"[^\w.-]", "-", Path(name).stem)[:_MOST_NAME]
        path = scrap.path / f"{kept}{Path(name).suffix.lower()}"
        self._write(path)
        return self.open(session, path, name, scrap)

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


@contextmanager
def _said(what: str, scrap: _Scrap | None, keep: Callable[[RefusalView], None]) -> Iterator[None]:
    """Turn what goes wrong into a sentence that names no folder of ours, and keep its report.

    Raises:
        OpeningError: instead of any error but Cancelled.
    """
    try:
        yield
    except Cancelled:
        raise
    except _SAID as error:
        sentence = _without(scrap, str(error))
        keep(view_refusal(what, error, sentence))
        raise OpeningError(sentence) from None
    except Exception as error:
        print(f"waferscope: fault in opening a file: {error!r}", file=sys.stderr, flush=True)
        keep(view_refusal(what, error, _FAULT))
        raise OpeningError(_FAULT) from None


def check_unpacked(path: Path) -> None:
    """Check what a recording's table of contents claims; its reader holds it to that.

    Raises:
        OpeningError: it would fill the memory.
    """
    try:
        with zipfile.ZipFile(path) as bundle:
            size = sum(item.file_size for item in bundle.infolist())
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return  # its reader says what is wrong with it
    if size > MOST_UNPACKED_BYTES:
        raise OpeningError(
            f"the recording claims {size:,} B of content, at most {MOST_UNPACKED_BYTES:,} B are "
            "unpacked here; open it with 'waferscope open' instead"
        )


def add_opening(api: Blueprint, registry: Registry, folders: Folders, most_bytes: int) -> None:
    """Add the routes to the api."""
    opener = Opener(registry, most_bytes)

    @api.get("/library/<session>")
    def library(session: str) -> Response:
        registry.get(session)
        return jsonify({"demos": list(DEMOS), "files": list(folders.names()),
                        "runs": runs_of(registry, session)})  # fmt: skip

    @api.post("/open/<session>")
    def open_named(session: str) -> Response:
        body = request.get_json(silent=True)
        name = body.get("name") if isinstance(body, dict) else None
        if not isinstance(name, str):
            return _sentence('a request needs a name, such as {"name": "mlp"}', 400)
        return opener.open(session, name if name in DEMOS else folders.find(name), Path(name).name)

    @api.post("/upload/<session>/<name>")
    def upload(session: str, name: str) -> Response:
        return opener.receive(session, name)

    @api.post("/cancel-open/<session>")
    def cancel_open(session: str) -> Response:
        registry.get(session)
        return jsonify({"cancelled": registry.opening(session).cancel()})

    @api.get("/refusal/<session>")
    def refusal(session: str) -> Response:
        found = registry.refusal(session)
        return jsonify({"refusal": found.to_json() if found else None})

    @api.errorhandler(FolderError)
    def no_such_file(error: FolderError) -> Response:
        return _sentence(str(error), 404)

    @api.errorhandler(UploadError)
    def not_sent(error: UploadError) -> Response:
        answer = _sentence(str(error), error.status)
        answer.headers["Connection"] = "close"
        return answer


def _without(scrap: _Scrap | None, sentence: str) -> str:
    return sentence.replace(f"{scrap.path}/", "") if scrap else sentence


def _sentence(text: str, status: int) -> Response:
    return Response(text + "\n", status=status, mimetype="text/plain")
