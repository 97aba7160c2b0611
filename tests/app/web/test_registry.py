"""Tabs and their debuggers."""

from __future__ import annotations

import pytest

from app.debugger import Debugger
from app.session import moves
from app.web import Registry, SessionError


def tab(registry: Registry, name: str) -> str:
    return f"{registry.epoch}-{name}"


def test_first_tab_gets_the_debugger_handed_in(registry: Registry, debugger: Debugger) -> None:
    assert registry.get(tab(registry, "aaaaaaaa")) is debugger
    assert registry.get(tab(registry, "aaaaaaaa")) is debugger


def test_second_tab_shares_the_run_but_not_the_cursor(
    registry: Registry, debugger: Debugger
) -> None:
    registry.get(tab(registry, "aaaaaaaa"))
    other = registry.get(tab(registry, "bbbbbbbb"))
    other.seek(9)
    assert other.run is debugger.run
    assert debugger.cursor.step == moves.start(debugger.run).step


def test_tab_unused_longest_is_dropped(debugger: Debugger) -> None:
    registry = Registry(debugger, most=2)
    kept = registry.get(tab(registry, "aaaaaaaa"))
    dropped = registry.get(tab(registry, "bbbbbbbb"))
    registry.get(tab(registry, "aaaaaaaa"))
    registry.get(tab(registry, "cccccccc"))
    assert len(registry) == 2
    assert registry.get(tab(registry, "aaaaaaaa")) is kept
    assert registry.get(tab(registry, "bbbbbbbb")) is not dropped


@pytest.mark.parametrize("session", ["", "aaaaaaaa", "0000000000000000-aaaaaaaa"])
def test_page_of_an_earlier_server_is_told_to_reload(registry: Registry, session: str) -> None:
    with pytest.raises(SessionError, match="reload"):
        registry.get(session)


def test_session_id_is_nothing_but_letters_and_digits(registry: Registry) -> None:
    with pytest.raises(SessionError):
        registry.get(tab(registry, "../../etc"))
