"""Breakpoints, hot links, explanations, advice and bottleneck in the terminal, by keys alone."""

from __future__ import annotations

import pytest

from app.debugger import Debugger
from app.tui.pages import TablePage, TextPage
from app.tui.pages.debug_specs import advice_spec, breaks_spec, why_text
from tests.app.tui.factory import Drive, play
from tests.factories.worked import worked_run


def test_a_watch_is_typed_stops_and_is_listed() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("colon")
        await drive.type("watch link > 90%")
        await drive.press("c", "B")
        page = drive.app.screen
        assert isinstance(page, TablePage)
        words = "\n".join(drive.screen_text())
        assert "link > 90%" in words
        assert "turned true" in words
        await drive.press("w")
        assert isinstance(drive.app.screen, TextPage)
        words = "\n".join(drive.screen_text())
        assert "route" in words
        assert "placement" in words
        await drive.press("escape", "B", "e")
        assert not drive.app.session.view_breaks().rows[0].enabled

    play(script)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("H", "Hot links"),
        ("A", "Advice"),
        ("X", "Why"),
        ("O", "lower bound"),
        ("B", "Breakpoints"),
        ("P", "most SRAM is in use"),
        ("a", "Activations"),
        ("R", "op/cycle/PE"),
        ("G", "reads from"),
    ],
)
def test_a_key_opens_each_page(key: str, words: str) -> None:
    async def script(drive: Drive) -> None:
        closed = len(drive.app.screen_stack)
        await drive.press("l", key)
        assert isinstance(drive.app.screen, (TablePage, TextPage))
        assert words in "\n".join(drive.screen_text())
        await drive.press("escape")
        assert len(drive.app.screen_stack) == closed

    play(script, size=(100, 30))


def test_enter_on_a_hot_link_selects_its_pe() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("H", "enter")
        assert drive.app.session.cursor.selection.pe is not None

    play(script)


def test_pages_fit_the_smallest_screen() -> None:
    async def script(drive: Drive) -> None:
        for key in "BHXAO":
            await drive.press(key)
            assert all(len(line) <= 80 for line in drive.screen_text())
            await drive.press("escape")

    play(script, size=(80, 24))


def test_the_stop_stands_below_its_breakpoint() -> None:
    session = Debugger(worked_run(1, 1))
    session.do("last")
    session.do("watch", "sram >= 200")
    session.do("reverse")
    spec = breaks_spec(session.view_breaks())
    assert spec.rows[0][2:5] == ("sram >= 200", "on", "1")
    assert "buffer: out slot 'h2' of k2" in spec.details[0]


def test_ties_stand_first_in_an_explanation() -> None:
    session = Debugger(worked_run(1, 1))
    session.seek_cycle(36)
    text = why_text(session.view_explain("kernel k2")).plain
    assert "(out slots)" in text
    assert "(in slots)" in text
    assert "must change together" in text


def test_a_gain_is_shown_only_when_tried(debugger: Debugger) -> None:
    before = advice_spec(debugger.view_advice())
    assert {row[2] for row in before.rows} == {"not tried", "nothing to try"}
    debugger.advise(30.0)
    debugger.wait(60)
    after = advice_spec(debugger.view_advice())
    assert any(row[2].endswith("(tried)") for row in after.rows)


def test_scopes_open_and_close_in_the_table_of_the_graph() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("G", "o")
        opened = drive.app.session.view_graph().opened
        assert len(opened) == 1
        assert isinstance(drive.app.screen, TablePage)
        await drive.press("c")
        assert drive.app.session.view_graph().opened == ()
        await drive.press("enter")
        assert drive.app.session.cursor.selection.kind in ("kernel", "region")

    play(script)


def test_o_in_memory_shows_the_whole_order() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("P", "o")
        assert isinstance(drive.app.screen, TextPage)
        assert "<- peak" in "\n".join(drive.screen_text())

    play(script)
