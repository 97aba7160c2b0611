"""`demo` and `open`: a session in the browser or in the terminal."""

from __future__ import annotations

import argparse
import errno
import socket
from pathlib import Path

from app.cli.faults import UsageError
from app.cli.main import OK
from app.cli.options import config_of, dims_of, shape_of
from app.cli.progress import shown_progress
from app.debugger import Debugger
from app.demo_models import DEFAULT_DEMO, DEMOS


def demo(arguments: argparse.Namespace) -> int:
    """Compile a bundled model and open it."""
    name = (arguments.name or DEFAULT_DEMO).lower()
    if name not in DEMOS:
        lines = "".join(f"\n  {item.name:<14} {item.help}" for item in DEMOS.values())
        raise UsageError(f"there is no demo '{arguments.name}'; demos:{lines}")
    return _session(name, arguments)


def open_file(arguments: argparse.Namespace) -> int:
    """Open a model or a recording."""
    return _session(arguments.file, arguments)


def _session(source: str, arguments: argparse.Namespace) -> int:
    tuned = (arguments.machine, arguments.config, arguments.samples)
    if source.lower().endswith(".wscope") and (any(tuned) or arguments.settings or arguments.dims):
        raise UsageError(
            f"{source} carries its own knobs; open it without options and turn them there"
        )
    if not arguments.tui:
        _need_address(arguments)
    config, dims = config_of(arguments), dims_of(arguments)
    with shown_progress(f"opened {source}") as progress:
        debugger = Debugger.open(
            source, config, dims=dims, shape=shape_of(arguments), progress=progress
        )
    debugger.warm_up()
    if arguments.tui:
        from app import tui

        tui.run(debugger)
        return OK
    from app import web

    access = web.make_access(arguments.host, arguments.base_path, tuple(arguments.allow_name))
    folders = web.Folders.of(*(arguments.folder or ["."]))
    web.serve(debugger, arguments.port, not arguments.no_open, access, folders)
    return OK


def _need_address(arguments: argparse.Namespace) -> None:
    """Say at once, before compiling, when the page cannot be served as asked.

    Raises:
        UsageError: a base path or a folder that cannot be, or a port that cannot be opened.
    """
    from app.web.access import AccessError, base_path

    try:
        base_path(arguments.base_path)
    except AccessError as error:
        raise UsageError(str(error)) from None
    for folder in arguments.folder:
        if not Path(folder).is_dir():
            raise UsageError(f"--folder {folder}: there is no such folder")
    _need_port(arguments.port, arguments.host)


def _need_port(port: int, host: str) -> None:
    """Try whether a port can be opened.

    Raises:
        UsageError: in use, not allowed, or no port at all.
    """
    if not 0 <= port <= 65_535:
        raise UsageError(f"--port {port}: must be 0..65535 (0 takes a free one)")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            why = "in use" if error.errno == errno.EADDRINUSE else (error.strerror or str(error))
            raise UsageError(
                f"port {port} cannot be used ({why}); try --port {min(port + 1, 65_535)}, "
                "or --port 0 for any free one"
            ) from None
