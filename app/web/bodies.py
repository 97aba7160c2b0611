"""Refuse a request by its head, before its body is received. Knows waitress, no pages.

The server keeps a body in a file until it is whole. So that nobody fills the disk, a body needs a
told length, only uploads may be long, and only those who are let in may send one.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

from app.web.access import COOKIE, Access
from app.web.security import MOST_JSON_BYTES

_REASONS = {401: "Unauthorized", 403: "Forbidden", 411: "Length Required",
            413: "Request Entity Too Large"}  # fmt: skip


class HeadRefusal(Error):  # type: ignore[misc]
    """An answer given instead of receiving the body."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.reason = code, _REASONS[code]


def refusal_of_head(parser: Any, access: Access, most_bytes: int) -> HeadRefusal | None:
    """Return why the body of a request is not received, None when it is."""
    if parser.chunked:
        return HeadRefusal(411, "a body needs its size in Content-Length")
    size = parser.content_length
    if not size:
        return None
    is_upload = parser.path.startswith(f"{access.base}api/upload/")
    most = most_bytes if is_upload else MOST_JSON_BYTES
    if size > most:
        return HeadRefusal(413, f"the body has {size:,} B, at most {most:,} B are received here")
    if is_upload and not access.answers_to(parser.headers.get("HOST", "")):
        return HeadRefusal(403, "this server does not answer to that name")
    authorization = parser.headers.get("AUTHORIZATION", "")
    if is_upload and not access.admits(_cookie(parser), authorization):
        return HeadRefusal(401, "this server asks for a token")
    return None


def _cookie(parser: Any) -> str:
    try:
        found = SimpleCookie(parser.headers.get("COOKIE", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def bounded_channel(access: Access, most_bytes: int) -> type:
    """Return the kind of channel that judges a request by its head."""

    class BoundedParser(HTTPRequestParser):  # type: ignore[misc]
        """Parses a request, and stops after the head of one that is refused."""

        def parse_header(self, header_plus: bytes) -> None:
            super().parse_header(header_plus)
            self.error = refusal_of_head(self, access, most_bytes)
            if self.error is not None:
                self.completed, self.content_length = True, 0

    class BoundedChannel(HTTPChannel):  # type: ignore[misc]
        """A connection whose requests are judged by their heads."""

        parser_class = BoundedParser

    return BoundedChannel
