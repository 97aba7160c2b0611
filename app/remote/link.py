"""Requests to a running dashboard: its address, the token, what goes wrong, in sentences.

Knows HTTP, no sessions and no views. The token travels in a header, never in an address.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from app.session.protocol import SessionLost

PORT = 8050
"""where a dashboard listens when nothing else was said"""
MOST_ANSWER_BYTES = 128 << 20
"""largest answer that is read"""
_FRESH_SECONDS = 30.0
"""a connection unused for longer is opened anew: the server may have closed it"""
_TIMEOUT_SECONDS = 60.0
_BEHIND = (502, 503, 504)
"""what a proxy answers when the server behind it is gone"""


class Refused(SessionLost):
    """The server is there but does not do what was asked."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Address:
    """Where a dashboard is."""

    scheme: str
    """http | https"""
    host: str
    port: int
    base: str
    """path of the page, slash at either end"""
    session: str = ""
    """session named in the address, may be its beginning"""
    token: str = ""
    """token found in the address; shown nowhere"""

    @property
    def shown(self) -> str:
        """the address without session and token"""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.base}"


def parse_address(text: str) -> Address:
    """Return the address in a text: a URL as the server prints it, HOST:PORT or a port.

    Raises:
        ValueError: it is none; the message does not repeat a token.
    """
    text = text.strip()
    if re.fullmatch(r"\d{1,5}", text):
        text = f"127.0.0.1:{text}"
    parts = urlsplit(text if "://" in text else f"http://{text}")
    shown = text.split("?")[0].split("#")[0][:80]
    try:
        port = parts.port
    except ValueError:
        raise ValueError(f"'{shown}' has no port in 1..65535") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError(
            f"'{shown}' is no address of a dashboard; give http://HOST:PORT/ as the server "
            "printed it"
        )
    query = {**parse_qs(parts.query), **parse_qs(parts.fragment)}
    base = parts.path if parts.path.endswith("/") else f"{parts.path}/"
    fallback = 443 if parts.scheme == "https" else 80 if "://" in text else PORT
    return Address(
        parts.scheme, parts.hostname, fallback if port is None else port, base,
        query.get("session", [""])[0], query.get("token", [""])[0],
    )  # fmt: skip


class Link:
    """Asks one server, from any thread; connections are kept and used again."""

    def __init__(self, address: Address, token: str = "") -> None:
        """`token` opens the server; empty: the one of the address, if it has one."""
        self._token = token or address.token
        self.address = replace(address, token="")
        self._lock = threading.Lock()
        self._kept: list[tuple[http.client.HTTPConnection, float]] = []

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._lock:
            for line, _ in self._kept:
                line.close()
            self._kept.clear()

    def get(self, path: str, **query: object) -> Any:
        """Return the JSON that a path below api/ answers.

        Raises:
            SessionLost: no answer, a refusal, or no JSON.
        """
        given = {name: value for name, value in query.items() if value is not None}
        tail = f"?{urlencode(given)}" if given else ""
        return self._json(self._ask("GET", f"{quote(path)}{tail}"))

    def get_bytes(self, path: str) -> bytes:
        """Return the bytes that a path below api/ answers."""
        return self._ask("GET", quote(path))

    def post(self, path: str, body: object) -> Any:
        """Send JSON and return the JSON answered."""
        return self._json(self._ask("POST", quote(path), json.dumps(body).encode()))

    def _json(self, data: bytes) -> Any:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            where = self.address.shown
            raise Refused(f"what answers at {where} is no Waferscope server", 0) from None

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Ask; a question without effect once more when a kept connection turns out closed."""
        line, is_kept = self._take()
        try:
            line.request(method, f"{self.address.base}api/{path}", body, self._headers())
            answer = line.getresponse()
            data = answer.read(MOST_ANSWER_BYTES + 1)
        except (OSError, http.client.HTTPException) as error:
            line.close()
            if is_kept and method == "GET":
                self.close()
                return self._ask(method, path)
            raise self._silent(error) from None
        if answer.will_close or len(data) > MOST_ANSWER_BYTES:
            line.close()
        else:
            with self._lock:
                self._kept.append((line, time.monotonic()))
        return self._judge(answer, data)

    def _judge(self, answer: http.client.HTTPResponse, data: bytes) -> bytes:
        if len(data) > MOST_ANSWER_BYTES:
            raise Refused(f"the server's answer has over {MOST_ANSWER_BYTES:,} B", answer.status)
        if answer.status == 200:
            return data
        if answer.status in _BEHIND:
            raise self._silent(OSError(f"status {answer.status}"))
        if answer.status == 401:
            raise Refused(
                f"the server at {self.address.shown} asks for its token, and "
                + ("the one given is not it" if self._token else "none was given")
                + "; it was printed when the server started: type it when asked, or set "
                "WAFERSCOPE_TOKEN",
                401,
            )
        raise Refused(_sentence(data) or f"the server answered {answer.status}", answer.status)

    def _silent(self, error: Exception) -> SessionLost:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return SessionLost(f"the server at {self.address.shown} does not answer ({why})")

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json"}
        return {**headers, "Authorization": f"Bearer {self._token}"} if self._token else headers

    def _take(self) -> tuple[http.client.HTTPConnection, bool]:
        """Return a connection, and whether it was used before."""
        with self._lock:
            while self._kept:
                line, used = self._kept.pop()
                if time.monotonic() - used < _FRESH_SECONDS:
                    return line, True
                line.close()
        https = self.address.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        return kind(self.address.host, self.address.port, timeout=_TIMEOUT_SECONDS), False


def _sentence(data: bytes) -> str:
    """Return the sentence of a refusal: plain text, or JSON with an error."""
    text = data[:2000].decode("utf-8", "replace").strip()
    try:
        plain = json.loads(text)
    except ValueError:
        return "" if text.startswith("<") else text
    return str(plain.get("error", "")) if isinstance(plain, dict) else ""
