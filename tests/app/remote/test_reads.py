"""Views by name: what is taken from a text."""

from __future__ import annotations

from typing import get_type_hints

import pytest

from app.commands import CommandError
from app.debugger import Debugger
from app.remote.reads import reads
from app.remote.session import RemoteSession
from app.session.protocol import Session


def test_every_view_of_a_session_is_there_at_both_ends() -> None:
    names = {"view_map", "view_status", "view_explain", "view_difference", "find_idle", "find_hot"}
    assert names <= reads().keys()
    for name in reads():
        wanted = get_type_hints(getattr(Session, name))
        assert get_type_hints(getattr(Debugger, name)) == wanted, name
        assert get_type_hints(getattr(RemoteSession, name)) == wanted, name


def test_arguments_get_their_types() -> None:
    read = reads()["view_difference"]
    texts = {"height": "4", "width": "8", "metric": "traffic"}
    assert read.parse(texts) == {"height": 4, "width": 8, "metric": "traffic"}
    assert reads()["view_pe"].parse({"row": "3", "col": "0"}) == {"row": 3, "col": 0}
    assert reads()["view_report"].parse({}) == {}


@pytest.mark.parametrize(
    ("name", "texts", "words"),
    [
        ("view_map", {"height": "4"}, "needs width"), ("view_map", {}, "needs height, width"),
        ("view_map", {"height": "-1", "width": "2"}, "must be 0"),
        ("view_map", {"height": "1" * 20, "width": "2"}, "must be 0"),
        ("view_report", {"self": "1"}, "takes nothing"), ("view_pe", {"rows": "1"}, "takes row"),
        ("view_explain", {"target": "x" * 3000}, "3,000 characters"),
    ],
)  # fmt: skip
def test_what_a_view_does_not_take_is_refused(name: str, texts: dict[str, str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        reads()[name].parse(texts)
