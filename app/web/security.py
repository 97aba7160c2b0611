"""Refuse whoever may not talk to the server. Knows no debugger; who may is said by `access`.

Three holes are closed for a foreign web page in the user's browser: a name that it points at this
server (Host check), requests it sends blindly (Origin check), and, where other machines can reach
the server, everyone without the token. The policy header keeps our own page from calling elsewhere.
"""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

from dash.exceptions import DependencyException, InvalidResourceError
from flask import Flask, Response, redirect, request
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from app.web.access import COOKIE, Access

_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self' http://127.0.0.1:* http://localhost:*"
)
_ASK = (
    "this server asks for a token: open the address that it printed when it started, "
    "with ?token= at its end; a terminal sends it with 'waferscope attach'"
)
MOST_JSON_BYTES = 1 << 20
"""size of a request that is not an upload"""


def is_same_site(origin: str | None, fetch_site: str | None, host: str) -> bool:
    """Return True when a request comes from a page of `host`, or from no page at all."""
    if fetch_site is not None and fetch_site not in ("same-origin", "none"):
        return False
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def guard(server: Flask, access: Access | None = None) -> None:
    """Refuse requests from elsewhere and add the headers that keep the page to itself."""
    allowed = access or Access()
    server.config["MAX_CONTENT_LENGTH"] = MOST_JSON_BYTES

    @server.before_request
    def refuse_strangers() -> AnyResponse | None:
        return refusal_of_host(allowed) or refusal_of_site(allowed) or _ask_token(allowed)

    @server.after_request
    def add_headers(response: Response) -> Response:
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    @server.errorhandler(HTTPException)
    def in_plain_text(error: HTTPException) -> Response:
        return _refusal(f"{error.name.lower()}: {error.description}", error.code or 500)

    @server.errorhandler(DependencyException)
    @server.errorhandler(InvalidResourceError)
    def no_such_script(error: Exception) -> Response:
        return _refusal(f"there is no script at {request.path[:200]!r}", 404)

    @server.errorhandler(Exception)
    def fault(error: Exception) -> Response:
        print(f"waferscope: fault in {request.path!r}: {error!r}", file=sys.stderr, flush=True)
        return _refusal("the server has a fault; the terminal it runs in says which", 500)


def refusal_of_host(access: Access) -> Response | None:
    """Return a refusal of a request to a name that is not ours."""
    if access.answers_to(request.host):
        return None
    return _refusal(
        f"this server does not answer to '{request.host[:80]}'; reach it as 127.0.0.1 or "
        "localhost, from another machine with ssh -L, or name it with --allow-name"
    )


def refusal_of_site(access: Access) -> Response | None:
    """Return a refusal of what a page of another site sent."""
    guarded = request.method not in ("GET", "HEAD") or request.path.startswith(access.base + "api/")
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    if guarded and not is_same_site(origin, site, request.host):
        return _refusal("requests from pages of other sites are refused")
    return None


def _ask_token(access: Access) -> AnyResponse | None:
    """Let in who shows the cookie or has the token in a header, as a terminal does.

    Who opens the page with the token gets the cookie, and an address without it.
    """
    if access.admits(request.cookies.get(COOKIE, ""), request.headers.get("Authorization", "")):
        return None
    given = request.args.get("token", "")
    if request.method != "GET" or request.path != access.base or not access.opens(given):
        return _refusal(_ASK, 401)
    answer = redirect(access.base, 303)
    answer.set_cookie(
        COOKIE, access.cookie(), httponly=True, samesite="Strict", path=access.base,
        secure=request.is_secure,
    )  # fmt: skip
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _refusal(sentence: str, status: int = 403) -> Response:
    return Response(sentence + "\n", status=status, mimetype="text/plain")
