"""Scripts without a screen: answers, errors with their line, and views equal to the core's."""

from __future__ import annotations

import pytest

from app.debugger import Debugger
from app.headless import Answer, ScriptError, play
from app.views.activations import ActivationsView
from app.views.breaks import BreaksView
from app.views.status import StatusView
from app.views.streaming import StreamingView


def _play(debugger: Debugger, script: str) -> list[Answer]:
    return list(play(debugger, script.splitlines()))


def test_commands_answer_with_the_status_and_faces_with_their_view(debugger: Debugger) -> None:
    answers = _play(debugger, "# remark\n\nbreak kernel fc1 start\ncontinue\nbreaks\nshow pe")
    assert [a.line for a in answers] == [3, 4, 5, 6]
    assert isinstance(answers[0].view, StatusView)
    assert answers[1].message.startswith("breakpoint 1")
    assert isinstance(answers[2].view, BreaksView)
    assert answers[3].view == debugger.view_pe()


def test_work_is_waited_for(debugger: Debugger) -> None:
    answers = _play(debugger, "set samples 2\nshow status")
    assert answers[1].view is not None
    assert answers[1].to_json()["view"]["samples"] == 2  # type: ignore[index]


def test_what_is_not_there_says_why(debugger: Debugger) -> None:
    answers = _play(debugger, "turn\nactivations\nshow compare\nset mode streaming\nturn")
    assert "no kernel takes turns" in answers[0].message
    assert answers[0].view is None
    assert isinstance(answers[1].view, ActivationsView)
    assert answers[2].message.startswith("nothing is compared")
    assert isinstance(answers[4].view, StreamingView)
    assert answers[4].message == ""


def test_quit_ends_the_script(debugger: Debugger) -> None:
    assert len(_play(debugger, "next\nquit\nnonsense")) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "line 2 .'nonsense'.: there is no command"),
        ("watch sram > ", "line 2 .*column 7 .*expected a name or a number"),
        ("play", "line 2 .*'play' needs a screen"),
        ("show nothing", "line 2 .*there is no view 'nothing'"),
        ("seek 999", "line 2 .*step 999 does not exist"),
        ("set samples 0", "line 2 .*samples"),
    ],
)
def test_a_line_that_fails_is_named(debugger: Debugger, line: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        _play(debugger, f"next\n{line}\nnext")
    assert debugger.cursor.step > 0  # what came before was done
