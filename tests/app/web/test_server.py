"""The server process: its address, a taken port, Ctrl-C."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import pytest

from app.debugger import Debugger
from app.web import Registry, ServeError, serve
from tests.app.served import served_by_waitress

_SCRIPT = """
from app.web import serve
from tests.app.sessions import mlp_session
serve(mlp_session(), port=0, open_browser=False)
print("ended well")
"""


def test_taken_port_is_named_with_a_way_out(debugger: Debugger) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServeError, match=rf"port {port} on 127\.0\.0\.1.*--port"):
            serve(debugger, port=port, open_browser=False)


def test_ctrl_c_ends_it_cleanly() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = line.split()[3]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert b"Waferscope" in answer.read()
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=20)
    assert out == "ended well\n"
    assert rest == ""
    assert process.returncode == 0


def test_sigterm_ends_it_cleanly_and_the_token_is_printed_once() -> None:
    script = _SCRIPT.replace(
        "open_browser=False", "open_browser=False, access=make_access('0.0.0.0')"
    ).replace("import serve", "import make_access, serve")
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        address = process.stderr.readline().split()[3]
        assert "/?token=" in address
        local = f"http://127.0.0.1:{urlsplit(address).port}/"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(local, timeout=20)
        process.send_signal(signal.SIGTERM)
        out, rest = process.communicate(timeout=20)
    assert out == "ended well\n"
    assert rest == ""
    assert process.returncode == 0


def test_server_uses_the_registry_it_is_given(debugger: Debugger) -> None:
    registry = Registry(debugger)
    with served_by_waitress(debugger, registry) as address:
        state = f"{address}api/state/{registry.epoch}-0123456789"
        with urllib.request.urlopen(state, timeout=20) as answer:
            assert answer.status == 200
        assert len(registry) == 1
