"""Any view as text: the sentence first, figures, a table a list."""

from __future__ import annotations

import pytest

from app.debugger import Debugger
from app.headless import TABLE, view_of
from app.view_text import view_text


def test_a_view_begins_with_its_sentence(debugger: Debugger) -> None:
    text = view_text(debugger.find_hot())
    assert text.splitlines()[0] == debugger.find_hot().sentence
    assert "rows:" in text
    assert "row  col  plane" in text


def test_nothing_selected_is_said() -> None:
    assert view_text(None) == "nothing is selected"


@pytest.mark.parametrize("name", TABLE["show"].arguments[0].choices)
def test_every_view_has_a_text(debugger: Debugger, name: str) -> None:
    debugger.select_pe(0, 0)
    assert view_text(view_of(debugger, name))
