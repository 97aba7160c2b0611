"""A server that is killed and started again while its page is open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.remote.link import Link, parse_address
from app.session.cursor import Cursor
from app.web import Access, Registry, create_app
from tests.app.served import ServerProcess, attached, until
from tests.app.sessions import mlp_session
from tests.browser.conftest import LiveServer, wait_painted, watched

LOST = ("net::ERR_", "status of 410", "the server did not respond", "Failed to fetch")
"""what a browser says of a server that has ended, and of its tab on the next one"""
LOCKED = (*LOST, "status of 401")
PAINTED = "window.MESH && window.MESH.painted > 0"


@pytest.fixture
def servers() -> Iterator[list[ServerProcess]]:
    """Keep the servers that a test starts, and end them."""
    started: list[ServerProcess] = []
    yield started
    for server in started:
        server.kill()


def cursor_of(page: Page) -> Any:
    """Return the server's cursor of the page's session, fetched past the page's own state."""
    script = "fetch(`/api/state/${window.WS.session}`).then(a => a.json()).then(s => s.cursor)"
    return page.evaluate(script)


def place_of(cursor: Cursor) -> tuple[object, object]:
    """Return a cursor's selected PE and the north-west corner of its view."""
    return cursor.selection.pe, (cursor.viewport.row, cursor.viewport.col)


def look_closely(page: Page, *selection: object) -> Any:
    """Change everything that a view holds and return the server's cursor."""
    for command in (["metric", "traffic"], ["stride", "event"], ["sample", 2], ["log"],
                    ["seek", 17], list(selection)):  # fmt: skip
        page.evaluate("words => window.WS.act(...words)", command)
    page.evaluate("window.WS.mesh.showBox([2, 3, 20, 21])")
    page.evaluate("window.WS.sendBox([2, 3, 20, 21])")
    page.wait_for_function(
        "what => ['step=17', 'traffic', 'log', 'sample=2', 'view=2', what]"
        ".every(part => location.hash.includes(part))",
        arg=selection[0],
    )
    return cursor_of(page)


def test_page_says_what_to_do_and_comes_back_by_itself(browser: Browser) -> None:
    first = LiveServer(mlp_session())
    with watched(browser, first.address, LOST) as page:
        epoch = page.evaluate("window.WS.epoch")
        first.stop()
        page.keyboard.press("n")
        expect(page.locator("#cover")).to_contain_text("Start waferscope again")
        second = LiveServer(mlp_session(), first.port)
        page.wait_for_function(f"epoch => {PAINTED} && window.WS.epoch !== epoch", arg=epoch)
        expect(page.locator("#cover")).to_be_hidden()
    second.stop()


@pytest.mark.parametrize("selection", [("pe", 5, 6), ("kernel", "fc1"), ("region", 1, 2, 8, 9)])
def test_killed_server_is_said_without_a_key_and_the_whole_view_is_back(
    browser: Browser, servers: list[ServerProcess], selection: tuple[object, ...]
) -> None:
    servers.append(ServerProcess())
    with watched(browser, servers[0].address, LOST) as page:
        page.set_default_timeout(60_000)
        shown, epoch = look_closely(page, *selection), page.evaluate("window.WS.epoch")
        assert (shown["step"], shown["log"], shown["sample"]) == (17, True, 2)
        servers[0].kill()
        expect(page.locator("#cover")).to_contain_text("The server does not answer")
        expect(page.locator("#cover")).to_be_visible()
        servers.append(ServerProcess(servers[0].port))
        page.wait_for_function(f"epoch => {PAINTED} && window.WS.epoch !== epoch", arg=epoch)
        page.wait_for_function("window.MESH.step === 17 && window.MESH.metric === 'traffic'")
        page.wait_for_function("window.WS.mesh.box.join() === '2,3,20,21'")
        until(lambda: cursor_of(page) == shown, "the whole view is back")
        expect(page.locator("#cover")).to_be_hidden()
        page.keyboard.press("n")
        page.wait_for_function("window.MESH.step === 18")


def test_page_and_terminal_meet_again_in_one_session(
    browser: Browser, servers: list[ServerProcess]
) -> None:
    servers.append(ServerProcess())
    with (
        watched(browser, servers[0].address, LOST) as page,
        attached(Link(parse_address(servers[0].address))) as terminal,
    ):
        page.set_default_timeout(60_000)
        shown = look_closely(page, "pe", 5, 6)
        place = (5, 6), (shown["viewport"]["row"], shown["viewport"]["col"])
        until(lambda: place_of(terminal.cursor) == place, "the terminal has followed")
        servers[0].kill()
        expect(page.locator("#cover")).to_be_visible()
        until(lambda: terminal.trouble, "the terminal says so")
        servers.append(ServerProcess(servers[0].port))
        until(lambda: not terminal.trouble, "the terminal is back")
        page.wait_for_function("id => window.WS && window.WS.session === id", arg=terminal.id)
        until(lambda: cursor_of(page) == shown, "the view is back")

        def follows() -> bool:
            """Tell whether the page shows what the terminal does, once its own view is back."""
            terminal.do("seek", 4)
            return bool(page.evaluate("window.MESH.step === 4"))

        until(follows, "the page follows the terminal")


def test_new_token_is_asked_for_and_the_page_comes_back_with_it(browser: Browser) -> None:
    first = LiveServer(mlp_session())
    with watched(browser, first.address, LOCKED) as page:
        first.stop()
        app = create_app(Registry(mlp_session()), Access("127.0.0.1", "new-token"))
        second = LiveServer(mlp_session(), first.port, app)
        expect(page.locator("#cover")).to_contain_text("asks for its token")
        other = page.context.new_page()
        other.goto(f"{second.address}?token=new-token")
        wait_painted(other)
        assert "new-token" not in other.url
        wait_painted(page)
    second.stop()
