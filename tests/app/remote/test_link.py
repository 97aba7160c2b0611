"""Addresses, and answers that are none."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.remote.link import Address, Link, Refused, parse_address
from app.remote.listing import Listed, Listing, choose, list_sessions
from app.session.protocol import SessionLost
from app.version import VERSION


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("8051", "http://127.0.0.1:8051/"), ("localhost:9000", "http://localhost:9000/"),
        ("wafer", "http://wafer:8050/"), ("http://wafer/", "http://wafer:80/"),
        ("https://h/tool", "https://h:443/tool/"), ("http://[::1]:8050/", "http://[::1]:8050/"),
        ("http://h:1/?token=secret&session=abc#step=3", "http://h:1/"),
    ],
)  # fmt: skip
def test_address_is_read_and_shown_without_its_token(text: str, shown: str) -> None:
    address = parse_address(text)
    assert address.shown == shown
    assert "secret" not in repr(Link(address).address)


def test_address_may_name_a_session_and_a_token() -> None:
    address = parse_address("http://h:1/?token=secret#session=abc")
    assert (address.session, address.token) == ("abc", "secret")


@pytest.mark.parametrize(
    "text", ["", "ftp://h/", "http://", "h:99999", "http://user:secret@h/", "h:x"]
)
def test_what_is_no_address_is_refused_without_repeating_a_token(text: str) -> None:
    with pytest.raises(ValueError, match=r"address|port") as caught:
        parse_address(f"{text}?token=secret" if text else text)
    assert "?token" not in str(caught.value)


class _Canned(BaseHTTPRequestHandler):
    """Answers every question with the same."""

    status, body = 200, b""

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def canned() -> Iterator[tuple[type[_Canned], Link]]:
    kind = type("Canned", (_Canned,), {})
    server = HTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    link = Link(Address("http", "127.0.0.1", server.server_port, "/"))
    yield kind, link
    link.close()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, b"<html>hello</html>", "no Waferscope server"), (200, b"[]", "no Waferscope server"),
        (200, b"[" * 100_000, "no Waferscope server"),
        (404, b"not found: nothing here", "no Waferscope server, or one that is too old"),
        (200, b'{"tool": "waferscope", "version": "99.1", "epoch": "0", "sessions": []}',
         r"is Waferscope 99\.1, this is"),
        (502, b"bad gateway", "does not answer"), (500, b"<html>", "the server answered 500"),
        (403, b"this server does not answer to 'h'", "does not answer to 'h'"),
    ],
)  # fmt: skip
def test_what_is_no_server_of_this_version_is_said_in_a_sentence(
    canned: tuple[type[_Canned], Link], status: int, body: bytes, words: str
) -> None:
    kind, link = canned
    kind.status, kind.body = status, body
    with pytest.raises(SessionLost, match=words) as caught:
        list_sessions(link)
    assert "\n" not in str(caught.value)


def test_no_server_is_said_with_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(SessionLost, match=rf"127\.0\.0\.1:{port}/ does not answer"):
        Link(Address("http", "127.0.0.1", port, "/")).get("sessions")


def listing(*tabs: str) -> Listing:
    rows = tuple(Listed(f"0f-{tab}", "mlp", "wse2", 1, 9, 0.5, 1) for tab in tabs)
    return Listing("waferscope", VERSION, "0f", rows)


def test_the_newest_session_is_chosen_unless_one_is_named() -> None:
    assert choose(listing("abc1", "abd2")) == "0f-abc1"
    assert choose(listing("abc1", "abd2"), "abd") == "0f-abd2"
    assert choose(listing("abc1", "abc12"), "abc1") == "0f-abc1"
    assert choose(listing()).startswith("0f-")


@pytest.mark.parametrize(("wanted", "words"), [("x", "no session that begins"), ("ab", "several")])
def test_a_session_that_is_not_there_is_named_with_those_that_are(wanted: str, words: str) -> None:
    with pytest.raises(Refused, match=rf"{words}.*abc1, abd2"):
        choose(listing("abc1", "abd2"), wanted)
