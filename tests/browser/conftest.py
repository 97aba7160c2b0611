"""A real Chromium on a real server. A machine without Chromium fails these tests: it shall.

The browser lives as long as one test module: while it runs it keeps an event loop in this thread,
and the terminal's tests need their own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest
from dash import Dash
from playwright.sync_api import Browser, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError
from werkzeug.serving import WSGIRequestHandler, make_server

from app.debugger import Debugger
from app.web import Registry, create_app
from tests.app.served import whole
from tests.app.sessions import mlp_session

_ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
_BAD = ("error", "warning")
WAIT_MS = 20_000
expect.set_options(timeout=WAIT_MS)

_wait_for_function = Page.wait_for_function


def _by_the_clock(page: Page, expression: str, **options: Any) -> Any:
    """Wait as `Page.wait_for_function`, but ask by the clock: a page that has just loaded itself
    anew may get no frames, and by frames nothing would be asked."""
    return _wait_for_function(page, expression, **{"polling": 30, **options})


Page.wait_for_function = _by_the_clock


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = play.chromium.launch(executable_path=path, args=_ARGS)
        yield browser
        browser.close()


@pytest.fixture
def debugger() -> Debugger:
    return mlp_session()


class _Quiet(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002
        """Say nothing about each request."""


class LiveServer:
    """One server in a thread; `stop` leaves the port to a later one."""

    def __init__(self, debugger: Debugger, port: int = 0, app: Dash | None = None) -> None:
        """`app` None: one of the debugger without a token."""
        served = whole((app or create_app(Registry(debugger))).server)
        self._server = make_server("127.0.0.1", port, served, threaded=True, request_handler=_Quiet)
        self.port = self._server.server_port
        self.address = f"http://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@pytest.fixture
def address(debugger: Debugger) -> Iterator[str]:
    """Serve the session; the address ends with the test."""
    server = LiveServer(debugger)
    yield server.address
    server.stop()


def wait_painted(page: Page, wrong: list[str] | None = None) -> None:
    """Wait for the map as a user does, with the page in front; say what stands there otherwise.

    Asks again and again, so that a page may load itself anew meanwhile.
    """
    page.bring_to_front()
    end = monotonic() + WAIT_MS / 1000
    while not _is_painted(page):
        if monotonic() > end:
            loaded = page.evaluate("[document.readyState, document.body.className, window.MESH]")
            text = page.inner_text("body")[:500]
            pytest.fail(f"the map was not painted: {text!r}; {loaded}; {wrong}")
        page.wait_for_timeout(20)


def _is_painted(page: Page) -> bool:
    shown = "window.MESH && window.MESH.painted > 0 && !document.body.classList.contains('offline')"
    try:
        return bool(page.evaluate(shown))
    except PlaywrightError:
        return False


@contextmanager
def watched(browser: Browser, address: str, expected: tuple[str, ...] = ()) -> Iterator[Page]:
    """Open the page and wait for the first map.

    Whatever goes wrong in it, or in pages opened beside it, fails the test at its end: an error or
    a warning on the console, an exception, a request to anything but the server. `expected` are
    parts of what the browser, or Dash in it, says about requests that a test means to fail.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    wrong: list[str] = []

    def note(text: str) -> None:
        if not any(part in text for part in expected):
            wrong.append(text)

    context.on("console", lambda m: note(m.text) if m.type in _BAD else None)
    context.on("weberror", lambda error: note(str(error.error)))
    context.on("request", lambda r: None if is_local(r.url) else wrong.append(r.url))
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)
    page.goto(address)
    wait_painted(page, wrong)
    yield page
    context.close()
    assert wrong == []


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page on the session of the test."""
    with watched(browser, address) as page:
        yield page


def is_local(url: str) -> bool:
    """Return True for a server of this machine and for what the page made itself."""
    return url.startswith(("http://127.0.0.1:", "data:", "blob:http://127.0.0.1:"))
