"""The palette finds every command; the command line remembers what was typed."""

from __future__ import annotations

import pytest

from app.commands import Command
from app.tui.keys import TABLE
from app.tui.pages import PalettePage, PromptPage
from app.tui.pages.palette import matching
from tests.app.tui.factory import Drive, play


@pytest.mark.parametrize("command", TABLE.values(), ids=lambda c: c.id)
def test_every_command_is_found_by_its_name_and_has_a_help_line(command: Command) -> None:
    assert command in matching(tuple(TABLE.values()), command.id)
    assert command.help
    assert command.label


def test_words_narrow_the_list_down_and_names_come_first() -> None:
    found = [command.id for command in matching(tuple(TABLE.values()), "zoom")]
    assert found[:2] == ["zoom-in", "zoom-out"]
    assert matching(tuple(TABLE.values()), "zoom north") == []


def test_a_command_without_arguments_runs_at_once() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("ctrl+p")
        assert isinstance(drive.app.screen, PalettePage)
        await drive.type("log scale")
        assert drive.app.session.cursor.log

    play(script)


def test_a_command_with_arguments_is_typed_to_its_end() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("ctrl+p")
        await drive.type("seek")
        assert isinstance(drive.app.screen, PromptPage)
        await drive.press("end")
        await drive.type("3")
        assert drive.app.session.cursor.step == 3
        await drive.press("colon", "up")
        await drive.press("enter")
        assert drive.app.session.cursor.step == 3

    play(script)
