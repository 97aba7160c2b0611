"""A page and a terminal's session on one server: each shows what the other does."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from app.remote.link import Link, parse_address
from app.remote.listing import choose, list_sessions
from app.remote.session import RemoteSession
from tests.app.served import attached, until


def test_page_and_terminal_move_each_other(page: Page, address: str) -> None:
    with attached(Link(parse_address(address))) as terminal:
        assert terminal.id == page.evaluate("window.WS.session")
        expect(page.locator("#toast")).to_contain_text("joined this session")
        terminal.do("seek", 12)
        page.wait_for_function("window.MESH.step === 12")
        terminal.do("pe", 3, 4)
        expect(page.locator("#inspect-title")).to_have_text("PE (3, 4)")
        terminal.do("metric", "traffic")
        page.wait_for_function("window.MESH.metric === 'traffic'")
        page.keyboard.press("End")
        until(lambda: terminal.cursor.step == terminal.view_status().steps - 1, "the last step")


def test_knob_turned_in_the_terminal_reaches_the_page(page: Page, address: str) -> None:
    with attached(Link(parse_address(address))) as terminal:
        terminal.do("set", "samples", 2)
        page.wait_for_function("window.WS.state.status.samples === 2")
        expect(page.locator("#delta")).to_contain_text("samples = 2")


def test_each_tab_has_a_session_of_its_own(page: Page, address: str) -> None:
    other = page.context.new_page()
    other.goto(address)
    other.wait_for_function("window.MESH && window.MESH.painted > 0")
    link = Link(parse_address(address))
    listing = list_sessions(link)
    assert len(listing.sessions) == 2
    first = RemoteSession(link, choose(listing, page.evaluate("window.WS.session")))
    first.do("seek", 5)
    page.wait_for_function("window.MESH.step === 5")
    assert other.evaluate("window.MESH.step") != 5
    first.close()
