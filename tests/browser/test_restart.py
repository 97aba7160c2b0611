"""A server that ends and comes back while its page is open."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.app.sessions import mlp_session
from tests.browser.conftest import LiveServer, watched


def test_page_says_what_to_do_and_comes_back_by_itself(browser: Browser) -> None:
    first = LiveServer(mlp_session())
    with watched(browser, first.address, loses_server=True) as page:
        epoch = page.evaluate("window.WS.epoch")
        first.stop()
        page.keyboard.press("n")
        expect(page.locator("#cover")).to_contain_text("Start waferscope again")
        second = LiveServer(mlp_session(), first.port)
        page.wait_for_function(
            "epoch => window.MESH && window.MESH.painted > 0 && window.WS.epoch !== epoch",
            arg=epoch,
        )
        expect(page.locator("#cover")).to_be_hidden()
    second.stop()
