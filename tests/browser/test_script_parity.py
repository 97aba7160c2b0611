"""The script of the parity tests typed at the page's `:` line gives the views of the core."""

from __future__ import annotations

from playwright.sync_api import Page

from app.debugger import Debugger
from app.remote.link import Link, parse_address
from tests.app.served import attached
from tests.app.sessions import mlp_run
from tests.app.test_script_parity import SCRIPT, do_line, plain_view, views_of


def type_line(page: Page, line: str) -> None:
    """Type a command as a user does and wait until the page has its answer."""
    page.keyboard.press(":")
    page.locator("#prompt input").fill(line)
    page.keyboard.press("Enter")
    page.wait_for_function("!document.querySelector('dialog[open]')")
    page.wait_for_function("!window.WS.isBusy()")


def test_the_page_shows_the_same(page: Page, address: str, debugger: Debugger) -> None:
    core = Debugger(mlp_run())
    with attached(Link(parse_address(address))) as session:
        assert session.id == page.evaluate("window.WS.session")
        for number, line in enumerate(SCRIPT, 1):
            do_line(core, line)
            type_line(page, line)
            debugger.wait(60)
            assert plain_view(session.view_status()) == plain_view(core.view_status()), line
            if number % 10 == 0 or number > len(SCRIPT) - 8:
                assert views_of(session) == views_of(core), line
        page.wait_for_function(
            "s => window.MESH.step === s && window.WS.state.status.step === s",
            arg=core.cursor.step,
        )
        assert page.evaluate("window.MESH.metric") == core.cursor.metric
        codes = page.evaluate("() => Array.from(window.WS.mesh.scene().codes)")
        assert bytes(codes) == core.frame_bytes(core.cursor.metric, core.cursor.step)
