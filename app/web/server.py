"""Serve the page to this machine until Ctrl-C. Knows sockets, no pages."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING, Any

from app.web.app import create_app
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


def serve(debugger: Debugger, port: int = PORT, open_browser: bool = True) -> None:
    """Serve a debugger on 127.0.0.1 until Ctrl-C; port 0 takes any free one.

    Raises:
        ServeError: the port is taken.
    """
    listener = listen(port)
    server = make_server(debugger, listener)
    address = address_of(listener)
    print(f"Waferscope is at {address} (Ctrl-C ends it)", file=sys.stderr, flush=True)
    if open_browser:
        threading.Timer(0.3, webbrowser.open, (address,)).start()
    try:
        server.run()
    finally:
        server.close()
        listener.close()


def make_server(debugger: Debugger, listener: socket.socket) -> Any:
    """Return a server of a debugger on a listening socket; its `run` serves until `close`."""
    from waitress import create_server

    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    sys.setswitchinterval(_SWITCH_SECONDS)
    app = create_app(Registry(debugger))
    return create_server(app.server, sockets=[listener], threads=_THREADS, ident=None)


def address_of(listener: socket.socket) -> str:
    """Return the address a browser opens."""
    return f"http://{HOST}:{listener.getsockname()[1]}/"


def listen(port: int) -> socket.socket:
    """Return a socket of this machine alone; port 0 takes any free one.

    Raises:
        ServeError: the port is taken.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ServeError(
            f"port {port} on {HOST} cannot be opened ({error.strerror or error}); "
            "choose another with --port, or --port 0 for any free one"
        ) from None
    return listener
