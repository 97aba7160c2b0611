"""A session over HTTP, on real servers: both ways, errors, a server that dies."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.commands import CommandError
from app.debugger import Debugger
from app.remote.link import Link, Refused, parse_address
from app.remote.listing import list_sessions
from app.remote.session import way_back
from app.session.cursor import Cursor, Selection, Viewport
from app.session.protocol import SessionLost
from app.web import Access
from engine.geometry import Rect
from tests.app.served import ServerProcess, attached, served, until
from tests.app.sessions import mlp_session


def test_what_one_face_does_the_other_shows() -> None:
    debugger = mlp_session()
    with served(debugger) as server, attached(server.link()) as session:
        assert server.registry.get(session.id) is debugger
        session.do("seek", 12)
        assert debugger.cursor.step == session.cursor.step == 12
        before = session.revision
        debugger.select_pe(3, 4)
        until(lambda: session.cursor.selection.pe == (3, 4), "the selection is heard")
        assert session.revision != before


def test_the_job_of_the_server_is_heard() -> None:
    debugger = mlp_session()
    with served(debugger) as server, attached(server.link()) as session:
        assert session.do("set", "samples", 2) == "compiling with samples = 2"
        debugger.wait(60)
        until(lambda: session.job is not None and session.job.state == "done", "the job ends")
        assert session.view_status().samples == 2


def test_refused_commands_and_views_say_the_same_as_here() -> None:
    debugger = mlp_session()
    with served(debugger) as server, attached(server.link()) as session:
        for command, arguments in (("seek", (10**6,)), ("set", ("samples", 0)), ("nope", ())):
            with pytest.raises(ValueError, match=r".") as here:
                debugger.do(command, *arguments)
            with pytest.raises(CommandError) as there:
                session.do(command, *arguments)
            assert str(there.value) == str(here.value)
        with pytest.raises(CommandError, match="hold nothing"):
            session.view_timeline(10, 60, 50)
        with pytest.raises(CommandError, match="not 'moon'"):
            session.view_difference(8, 8, "moon")
        assert session.view_compare() is None


def test_export_is_written_on_this_machine(tmp_path: Path) -> None:
    with served(mlp_session()) as server, attached(server.link()) as session:
        path = tmp_path / "map.png"
        assert session.do("export", str(path)) == f"wrote {path}"
        assert path.read_bytes().startswith(b"\x89PNG")
        with pytest.raises(CommandError, match="choose one of png"):
            session.do("export", str(tmp_path / "map.exe"))


def test_the_token_opens_and_stays_out_of_every_sentence() -> None:
    access = Access("127.0.0.1", "secret-of-the-server")
    with served(mlp_session(), access) as server:
        with closing(server.link()) as link, pytest.raises(Refused, match="none was given"):
            list_sessions(link)
        with closing(server.link("wrong-token")) as link, pytest.raises(Refused) as caught:
            list_sessions(link)
        assert "not it" in str(caught.value)
        assert "wrong-token" not in str(caught.value)
        with attached(server.link("secret-of-the-server")) as session:
            assert "secret" not in f"{session.id} {session.revision} {vars(session)}"
            assert session.do("seek", 3) == ""


def test_a_server_below_a_base_path_is_attached_to() -> None:
    access = Access("127.0.0.1", "secret-token", "/tool/")
    with served(mlp_session(), access) as server:
        address = parse_address(f"http://127.0.0.1:{server.port}/tool?token=secret-token")
        with attached(Link(address)) as session:
            session.do("seek", 3)
            assert server.registry.get(session.id).cursor.step == session.cursor.step == 3


def test_a_session_freed_and_made_anew_gets_its_view_back() -> None:
    with served(mlp_session()) as server, attached(server.link()) as session:
        session.do("seek", 20)
        session.do("pe", 5, 6)
        server.registry._drop(session.id)
        server.registry.get(session.id)
        until(lambda: session.view_status().step == 20, "the step is back")
        until(lambda: session.cursor.selection.pe == (5, 6), "the selection is back")


def test_another_model_opened_by_the_page_is_followed() -> None:
    with served(mlp_session()) as server, attached(server.link()) as session:
        session.do("seek", 20)
        other = Debugger(mlp_session().run)
        other.seek(4)
        server.registry.replace(session.id, other)
        until(lambda: session.cursor.step == 4, "the other debugger is heard")
        assert other.cursor.step == 4


def test_a_killed_server_is_said_and_the_session_resumed_when_it_is_back() -> None:
    first = ServerProcess()
    link = Link(parse_address(first.address))
    with attached(link) as session:
        before = session.id
        shown = {"metric": ("traffic",), "seek": (17,), "pe": (2, 3), "log": ()}
        for command, arguments in shown.items():
            session.do(command, *arguments)
        session._post("viewport", {"box": [1, 2, 20, 30]})
        first.kill()
        until(lambda: session.trouble, "the trouble is said")
        assert "does not answer" in session.trouble
        assert "trying again" in session.trouble
        with pytest.raises(SessionLost, match="does not answer"):
            session.view_map(8, 8)
        second = ServerProcess(first.port)
        until(lambda: not session.trouble, "the server is found again")
        assert session.id != before
        assert session.id.partition("-")[2] == before.partition("-")[2]
        cursor = session.cursor
        assert (cursor.metric, cursor.step, cursor.log) == ("traffic", 17, True)
        assert cursor.selection.pe == (2, 3)
        assert cursor.viewport == Viewport(1, 2, 20, 30)
        second.kill()


def test_the_way_back_turns_nothing_over() -> None:
    wanted = Cursor(
        5, 1, "event", "traffic", Viewport(0, 0, 8, 8),
        Selection("region", region=Rect(1, 2, 3, 4)), log=True,
    )  # fmt: skip
    commands = dict(way_back(wanted))
    assert commands == {
        "metric": ("traffic",), "stride": ("event",), "sample": (1,), "seek": (5,),
        "log": ("on",), "region": (1, 2, 3, 4),
    }  # fmt: skip
    assert dict(way_back(replace(wanted, log=False)))["log"] == ("off",)
