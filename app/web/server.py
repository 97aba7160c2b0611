"""Serve the page until Ctrl-C. Knows sockets, no pages."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.web.access import Access
from app.web.app import create_app
from app.web.folders import Folders
from app.web.opening import MOST_UPLOAD_BYTES
from app.web.registry import Registry

if TYPE_CHECKING:
    from app.debugger import Debugger

HOST = "127.0.0.1"
PORT = 8050
_THREADS = 12
_SWITCH_SECONDS = 0.001
"""how long one thread may hold the interpreter while others wait: keys come before panels"""


class ServeError(OSError):
    """A server that cannot start."""


def serve(
    debugger: Debugger,
    port: int = PORT,
    open_browser: bool = True,
    access: Access | None = None,
    folders: Folders | None = None,
) -> None:
    """Serve a debugger until Ctrl-C or SIGTERM; port 0 takes any free one.

    The address with the token is printed once, when the server starts.

    Raises:
        ServeError: the address cannot be opened.
    """
    allowed = access or Access(HOST)
    listener = listen(port, allowed.host)
    registry = Registry(debugger)
    server = make_server(debugger, listener, registry, allowed, folders)
    address = address_of(listener, allowed)
    try:
        with _ended_by_signal():
            print(f"Waferscope is at {address} (Ctrl-C ends it)", file=sys.stderr, flush=True)
            if open_browser:
                threading.Timer(0.3, webbrowser.open, (address,)).start()
            server.run()
    finally:
        registry.close()
        server.close()
        listener.close()


def make_server(
    debugger: Debugger,
    listener: socket.socket,
    registry: Registry | None = None,
    access: Access | None = None,
    folders: Folders | None = None,
    most_upload_bytes: int = MOST_UPLOAD_BYTES,
) -> Any:
    """Return a server of a debugger on a listening socket; its `run` serves until `close`."""
    from waitress import create_server

    from app.web.bodies import bounded_channel

    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    sys.setswitchinterval(_SWITCH_SECONDS)
    known = Registry(debugger) if registry is None else registry
    app = create_app(known, access, folders, most_upload_bytes)
    server = create_server(
        app.server, sockets=[listener], threads=_THREADS, ident=None,
        max_request_body_size=most_upload_bytes + (1 << 20),
    )  # fmt: skip
    server.channel_class = bounded_channel(access or Access(), most_upload_bytes)
    return server


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Let SIGTERM end the server as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def address_of(listener: socket.socket, access: Access | None = None) -> str:
    """Return the address a browser opens, with the token when one is asked for."""
    allowed = access or Access(HOST)
    name = socket.gethostname() if allowed.host in ("0.0.0.0", "::") else allowed.host
    shown = f"[{name}]" if ":" in name else name
    tail = f"?token={allowed.token}" if allowed.token else ""
    return f"http://{shown}:{listener.getsockname()[1]}{allowed.base}{tail}"


def listen(port: int, host: str = HOST) -> socket.socket:
    """Return a listening socket, of this machine alone by default; port 0 takes any free one.

    Raises:
        ServeError: the address cannot be opened.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ServeError(
            f"port {port} on {host} cannot be opened ({error.strerror or error}); "
            "choose another with --port, or --port 0 for any free one"
        ) from None
    return listener
