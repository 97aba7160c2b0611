"""Who may talk to the server: pages of this machine only, and only our own. Knows no debugger.

The server listens on 127.0.0.1. Two holes are left for a foreign web page in the user's browser:
a name that it points at 127.0.0.1 (closed by the Host check) and requests it sends blindly
(closed by the Origin check). The policy header keeps our own page from calling anywhere else.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, Response, request

_HOSTS = ("127.0.0.1", "localhost", "[::1]")

_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self' http://127.0.0.1:* http://localhost:*"
)


def is_local_host(host: str) -> bool:
    """Return True when a Host header names this machine, with or without a port."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "0"
    return name.lower() in _HOSTS and port.isdecimal()


def is_same_site(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Return True when a request comes from a page of `host`, or from no page at all."""
    if fetch_site is not None and fetch_site not in ("same-origin", "none"):
        return False
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def guard(server: Flask) -> None:
    """Refuse requests from elsewhere and add the headers that keep the page to itself."""

    @server.before_request
    def refuse_strangers() -> Response | None:
        if not is_local_host(request.host):
            return _refusal(
                f"this server answers to 127.0.0.1 and localhost, not to '{request.host}'; "
                "reach it from another machine with ssh -L"
            )
        guarded = request.method not in ("GET", "HEAD") or request.path.startswith("/api/")
        origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
        if guarded and not is_same_site(origin, site, request.host):
            return _refusal("requests from pages of other sites are refused")
        return None

    @server.after_request
    def add_headers(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response


def _refusal(sentence: str) -> Response:
    return Response(sentence + "\n", status=403, mimetype="text/plain")
