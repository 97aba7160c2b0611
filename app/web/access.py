"""Who is let in: names the server answers to, the token, where it lies. Knows no sockets.

A token is asked for as soon as others than this machine can reach the server. It is typed (or
opened) once; what the browser keeps is a cookie derived from it, which scripts cannot read and
pages of other sites cannot send.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, field

COOKIE = "waferscope"
"""name of the cookie that follows the token"""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BASE = re.compile(r"/(?:[A-Za-z0-9._~-]+/)*")


class AccessError(ValueError):
    """A choice of address that cannot be served."""


def is_loopback(host: str) -> bool:
    """Return True for a name or address of this machine alone."""
    return host.lower() in _LOOPBACK


def base_path(text: str) -> str:
    """Return a base path with a slash at either end.

    Raises:
        AccessError: it holds anything but letters, digits and . _ ~ - between slashes.
    """
    path = "/" + text.strip("/") + ("/" if text.strip("/") else "")
    if not _BASE.fullmatch(path) or "/../" in path or "/./" in path:
        raise AccessError(
            f"--base-path '{text}' must be parts of letters, digits and . _ ~ - between slashes, "
            "such as /waferscope/"
        )
    return path


@dataclass(frozen=True, slots=True)
class Access:
    """How a server may be reached."""

    host: str = "127.0.0.1"
    """address it listens on"""
    token: str = ""
    """secret that opens it, empty: none is asked for"""
    base: str = "/"
    """path below which everything lies, slash at either end"""
    names: tuple[str, ...] = ()
    """further names it answers to, such as that of a reverse proxy"""
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    """secret of this server, from which the cookie is made"""

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and not self.token:
            raise AccessError(
                f"'{self.host}' can be reached from other machines, so a token is needed"
            )

    def answers_to(self, host: str) -> bool:
        """Return True when a Host header names this server, with or without a port.

        An address in digits cannot be pointed elsewhere by a foreign name server, so it is let in
        where the server listens to other machines.
        """
        name, port = _split(host)
        if not port.isdecimal() or not name:
            return False
        if is_loopback(name) or name in self.names:
            return True
        if is_loopback(self.host):
            return False
        return _is_address(name) or name in (self.host.lower(), socket.gethostname().lower())

    def cookie(self) -> str:
        """Return what a browser sends once it has shown the token."""
        return hmac.new(self.key, self.token.encode(), hashlib.sha256).hexdigest()

    def opens(self, token: str) -> bool:
        """Return True for the right token; takes as long for a wrong one."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def knows(self, cookie: str) -> bool:
        """Return True for the right cookie."""
        return hmac.compare_digest(cookie.encode(), self.cookie().encode())

    def admits(self, cookie: str, authorization: str) -> bool:
        """Return True for who shows the cookie, or the token as 'Bearer TOKEN'."""
        if not self.token or self.knows(cookie):
            return True
        scheme, _, shown = authorization.partition(" ")
        return scheme.lower() == "bearer" and self.opens(shown.strip())


def make_access(host: str, base: str = "", names: tuple[str, ...] = ()) -> Access:
    """Return the access of a server; other machines need a new token.

    Raises:
        AccessError: a base path that cannot be.
    """
    token = "" if is_loopback(host) else secrets.token_urlsafe(24)
    return Access(host, token, base_path(base), tuple(name.lower() for name in names))


def _split(host: str) -> tuple[str, str]:
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "0"
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    elif ":" in name:
        return "", port
    return name.lower(), port


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
