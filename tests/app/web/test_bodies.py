"""Bodies that a real server refuses before they have come, and uploads that lie or stop."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

GIGABYTE = 1 << 30
LIMIT = 4 << 20
_SCRIPT = f"""
import sys
from app.web import Access, Registry
from app.web.server import address_of, listen, make_server
from tests.app.sessions import mlp_session
access = Access("127.0.0.1", sys.argv[1])
listener, registry = listen(0), Registry(mlp_session())
server = make_server(mlp_session(), listener, registry, access, None, {LIMIT})
print(address_of(listener), registry.epoch, flush=True)
server.run()
"""


@dataclass
class Server:
    """A server in a process of its own, whose memory can be looked at."""

    pid: int
    port: int
    epoch: str

    def head(self, method: str, path: str, *more: str) -> bytes:
        """Return the head of a request."""
        lines = (f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", *more, "", "")
        return "\r\n".join(lines).encode()

    def talk(self, data: bytes, *, end: bool = False) -> bytes:
        """Send bytes and return what is answered until the server closes."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), 20) as line:
            with suppress(OSError):  # the server may close first; what it said is read below
                line.sendall(data)
                if end:
                    line.shutdown(socket.SHUT_WR)
            try:
                while part := line.recv(65_536):
                    answer += part
            except ConnectionResetError:
                return answer
            return answer

    def peak_bytes(self) -> int:
        """Return the most memory that the process ever held."""
        for text in Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines():
            if text.startswith("VmHWM"):
                return int(text.split()[1]) << 10
        raise AssertionError("the system tells no peak memory")

    def is_alive(self, token: str = "") -> bool:
        """Return True when it answers as it should."""
        more = (f"Authorization: Bearer {token}",) if token else ()
        answer = self.talk(self.head("GET", "/api/sessions", "Connection: close", *more))
        return b" 200 " in answer.split(b"\r\n")[0]


def start(token: str) -> Iterator[Server]:
    process = subprocess.Popen(
        [sys.executable, "-c", _SCRIPT, token], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address, epoch = process.stdout.readline().split()
    server = Server(process.pid, urlsplit(address).port or 0, epoch)
    assert server.is_alive(token)
    server.talk(server.head("GET", "/", "Connection: close"))
    yield server
    process.kill()
    process.wait(10)
    process.stdout.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield from start("")


@pytest.fixture(scope="module")
def locked() -> Iterator[Server]:
    yield from start("secret-token")


def status(answer: bytes) -> int:
    return int(answer.split()[1])


@pytest.mark.parametrize("path", ["/api/upload/{}/a.onnx", "/api/do/{}", "/", "/_dash-layout"])
def test_gigabyte_is_refused_by_its_declared_size(server: Server, path: str) -> None:
    before = server.peak_bytes()
    head = server.head(
        "POST", path.format(f"{server.epoch}-0123456789"), f"Content-Length: {GIGABYTE}"
    )
    answer = server.talk(head)
    assert status(answer) == 413
    assert b"1,073,741,824 B" in answer
    assert server.peak_bytes() - before < 64 << 20
    assert server.is_alive()


def test_gigabyte_that_streams_in_is_refused_at_its_head(server: Server) -> None:
    before, sent = server.peak_bytes(), 0
    path = f"/api/upload/{server.epoch}-0123456789/a.onnx"
    chunk = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    with socket.create_connection(("127.0.0.1", server.port), 20) as line:
        line.sendall(server.head("POST", path, "Transfer-Encoding: chunked"))
        answer = line.recv(65_536)
        try:
            while sent < GIGABYTE:
                line.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
    assert status(answer) == 411
    assert sent < 64 << 20
    assert server.peak_bytes() - before < 64 << 20
    assert server.is_alive()


def test_gigabyte_sent_in_spite_of_the_refusal_goes_nowhere(server: Server) -> None:
    before, sent = server.peak_bytes(), 0
    path = f"/api/upload/{server.epoch}-0123456789/a.onnx"
    with socket.create_connection(("127.0.0.1", server.port), 20) as line:
        line.sendall(server.head("POST", path, f"Content-Length: {GIGABYTE}"))
        try:
            while sent < GIGABYTE:
                sent += line.send(bytes(1 << 20))
        except OSError:
            pass
    assert sent < 64 << 20
    assert server.peak_bytes() - before < 64 << 20
    assert server.is_alive()


def test_small_bodies_that_are_no_upload_are_received_only_small(server: Server) -> None:
    session = f"{server.epoch}-0123456789"
    body = json.dumps({"command": "seek", "args": ["9" * (2 << 20)]}).encode()
    path = f"/api/do/{session}"
    answer = server.talk(server.head("POST", path, f"Content-Length: {len(body)}"))
    assert status(answer) == 413
    small = b'{"command": "seek", "args": [3]}'
    more = (f"Content-Length: {len(small)}", "Content-Type: application/json", "Connection: close")
    assert status(server.talk(server.head("POST", path, *more) + small)) == 200


def test_truncated_upload_leaves_nothing(server: Server) -> None:
    path = f"/api/upload/{server.epoch}-0123456789/a.wscope"
    head = server.head("POST", path, "Content-Length: 500000")
    assert server.talk(head + b"PK\x03\x04half of it", end=True) == b""
    assert server.is_alive()
    names = [os.readlink(link) for link in _links(server.pid)]
    assert not [name for name in names if "waferscope-" in name]


def _links(pid: int) -> list[Path]:
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            os.readlink(link)
        except OSError:
            continue
        found.append(link)
    return found


def test_upload_of_a_stranger_is_refused_before_it_comes(locked: Server) -> None:
    path = f"/api/upload/{locked.epoch}-0123456789/a.onnx"
    size = f"Content-Length: {LIMIT}"
    assert status(locked.talk(locked.head("POST", path, size))) == 401
    assert status(locked.talk(locked.head("POST", path, size, "Cookie: waferscope=0"))) == 401
    assert status(locked.talk(locked.head("POST", path, size, 'Cookie: \xff=;;="'))) == 401
    foreign = f"POST {path} HTTP/1.1\r\nHost: evil.example\r\n{size}\r\n\r\n".encode()
    assert status(locked.talk(foreign)) == 403
    assert locked.is_alive("secret-token")


def test_half_open_and_garbled_connections_leave_it_well(server: Server) -> None:
    heads = (
        b"\x16\x03\x01\x02\x00\x01", b"GET", b"\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"A" * 300_000,
        b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"y" * 99_999,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    )  # fmt: skip
    for head in heads:
        try:
            answer = server.talk(head, end=True)
        except ConnectionError:
            answer = b""
        assert b"Traceback" not in answer
        assert not answer or status(answer) in range(400, 502), head[:60]
    idle = [socket.create_connection(("127.0.0.1", server.port), 5) for _ in range(40)]
    began = time.monotonic()
    assert server.is_alive()
    assert time.monotonic() - began < 20
    for line in idle:
        line.close()
