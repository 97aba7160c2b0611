"""Real servers for the tests: one in a thread of this process, the tool's own to be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from waitress import wasyncore
from werkzeug.serving import WSGIRequestHandler, make_server

from app.debugger import Debugger
from app.remote.link import Link, parse_address
from app.remote.listing import choose, list_sessions
from app.remote.session import RemoteSession
from app.web import Access, Registry, create_app
from app.web.server import address_of, listen
from app.web.server import make_server as make_tool_server

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Served:
    """A server in this process."""

    port: int
    registry: Registry

    def link(self, token: str = "") -> Link:
        """Return a way in."""
        return Link(parse_address(f"http://127.0.0.1:{self.port}/"), token)

    def session(self, tab: str = "0123456789") -> str:
        """Return the id of a session."""
        return f"{self.registry.epoch}-{tab}"


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002
        """Say nothing about each request."""


def whole(app: WSGIApplication) -> WSGIApplication:
    """Return an app whose answers are read before they are sent.

    The server of the tests does not close the file of an answer when its client has left in the
    middle of it, as a page does that is closed.
    """

    def answer(environ: WSGIEnvironment, start: StartResponse) -> list[bytes]:
        parts = app(environ, start)
        try:
            return [b"".join(parts)]
        finally:
            close: Callable[[], None] | None = getattr(parts, "close", None)
            if close is not None:
                close()

    return answer


@contextmanager
def served(debugger: Debugger, access: Access | None = None) -> Iterator[Served]:
    """Serve a debugger on a free port."""
    registry = Registry(debugger)
    app = whole(create_app(registry, access).server)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Served(server.server_port, registry)
    finally:
        registry.close()
        server.shutdown()
        server.server_close()
        thread.join(5)


@contextmanager
def served_by_waitress(debugger: Debugger, registry: Registry | None = None) -> Iterator[str]:
    """Serve a debugger by the tool's own server in a thread; yields the address.

    The server's sockets are closed by its own thread, which would else fail on them after the test.
    """
    listener = listen(0)
    server = make_tool_server(debugger, listener, registry)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield address_of(listener)
    finally:
        server.trigger.pull_trigger(lambda: wasyncore.close_all(server._map))
        thread.join(WAIT_SECONDS)
        server.task_dispatcher.shutdown()
        assert not thread.is_alive()


@contextmanager
def attached(link: Link, wanted: str = "") -> Iterator[RemoteSession]:
    """Attach to a session of a server, the newest by default."""
    session = RemoteSession(link, choose(list_sessions(link), wanted))
    try:
        yield session
    finally:
        session.close()


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something holds."""
    end = monotonic() + WAIT_SECONDS
    while not holds():
        assert monotonic() < end, f"waited {WAIT_SECONDS:g} s: {what}"
        sleep(0.02)


_SCRIPT = """
import sys
from app.web import serve
from tests.app.sessions import mlp_session
serve(mlp_session(), port=int(sys.argv[1]), open_browser=False)
"""


class ServerProcess:
    """A server of its own process: one that can be killed and started again."""

    def __init__(self, port: int = 0) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, str(port)], stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        self.address = self._process.stderr.readline().split()[3]
        self.port = urlsplit(self.address).port or 0

    def kill(self) -> None:
        """End it without any chance to say so."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait(10)
        assert self._process.stderr is not None
        self._process.stderr.close()
