"""`waferscope attach`: what it says before the terminal is taken."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from app import tui
from app.cli.main import main
from app.session.protocol import Session
from app.web import Access
from tests.app.served import Served, served
from tests.app.sessions import mlp_session

TOKEN = "secret-of-the-server"


@pytest.fixture
def locked() -> Iterator[Served]:
    with served(mlp_session(), Access("127.0.0.1", TOKEN)) as server:
        server.registry.get(server.session("aaaaaaaa")).seek(5)
        server.registry.get(server.session("bbbbbbbb")).seek(6)
        yield server


def test_sessions_are_listed_newest_first(
    locked: Served, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAFERSCOPE_TOKEN", TOKEN)
    assert main(["attach", str(locked.port), "--list"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("bbbbbbbb  mlp on mesh-64x64, step 6 of ")
    assert second.startswith("aaaaaaaa  mlp on mesh-64x64, step 5 of ")


@pytest.mark.parametrize("way", ["--token", "environment", "address", "typed"])
def test_token_is_taken_from_where_it_is_and_never_shown(
    locked: Served, way: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["attach", f"http://127.0.0.1:{locked.port}/", "--list"]
    if way == "--token":
        words += ["--token", TOKEN]
    elif way == "address":
        words[1] += f"?token={TOKEN}"
    elif way == "environment":
        monkeypatch.setenv("WAFERSCOPE_TOKEN", TOKEN)
    else:
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("getpass.getpass", lambda prompt: f"{TOKEN}\n")
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "mlp on" in out
    assert TOKEN not in out + err


def test_wrong_and_missing_tokens_are_refused_in_a_sentence(
    locked: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["attach", str(locked.port), "--list"]) == 2
    assert "none was given" in capsys.readouterr().err
    assert main(["attach", str(locked.port), "--list", "--token", "wrong-one"]) == 2
    err = capsys.readouterr().err
    assert "the one given is not it" in err
    assert "wrong-one" not in err
    assert err.count("\n") == 1


def test_no_server_and_no_address_are_said_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert main(["attach", str(port)]) == 2
    assert f"the server at http://127.0.0.1:{port}/ does not answer" in capsys.readouterr().err
    assert main(["attach", "ftp://h/"]) == 2
    assert "no address of a dashboard" in capsys.readouterr().err


def test_session_that_is_not_there_is_refused_with_those_that_are(
    locked: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["attach", str(locked.port), "--token", TOKEN]
    assert main([*words, "--session", "cccc"]) == 2
    assert "no session that begins with 'cccc'; sessions of this server: bbbbbbbb, aaaaaaaa" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("way", ["option", "address"])
def test_the_session_named_is_shown(
    locked: Served, way: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown: list[int] = []

    def look(session: Session) -> int:
        shown.append(session.cursor.step)
        return 0

    monkeypatch.setattr(tui, "run", look)
    monkeypatch.setenv("WAFERSCOPE_TOKEN", TOKEN)
    words = ["attach", f"http://127.0.0.1:{locked.port}/"]
    if way == "option":
        words += ["--session", "aaaa"]
    else:
        words[1] += "?session=aaaa"
    assert main(words) == 0
    assert shown == [5]
    assert "bbbbbbbb" in capsys.readouterr().err
    assert main(["attach", str(locked.port)]) == 0
    assert shown == [5, 5]


def test_without_a_terminal_it_says_so(locked: Served, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attach", str(locked.port), "--token", TOKEN]) == 2
    assert "needs a terminal" in capsys.readouterr().err
