"""One script of commands through the core, the browser and the terminal gives equal views."""

from __future__ import annotations

from typing import Any

from app.commands import keymap
from app.debugger import Debugger
from app.web import Registry, create_app
from tests.app.sessions import mlp_session
from tests.app.tui.factory import Drive, play

SCRIPT: tuple[tuple[str, tuple[str | int, ...]], ...] = (
    ("values", ()), ("next", ()), ("next", ()), ("metric", ("traffic",)), ("pe", (1, 2)),
    ("event", ()), ("zoom-in", ()), ("sample", (1,)), ("back", ()),
)  # fmt: skip


def views(session: Debugger) -> dict[str, Any]:
    """Return everything a screen would paint, in JSON's types."""
    pe, kernel = session.view_pe(), session.view_kernel()
    assert pe is not None
    assert kernel is not None
    status = session.view_status().to_json()
    del status["revision"], status["job"], status["message"]
    return {
        "status": status,
        "map": session.view_map(20, 30).to_json(),
        "pe": pe.to_json(),
        "kernel": kernel.to_json(),
        "values": session.view_values().to_json(),
    }


def through_core() -> Debugger:
    session = mlp_session()
    for command, arguments in SCRIPT:
        session.do(command, *arguments)
        session.wait(60)
    return session


def through_browser() -> Debugger:
    session = mlp_session()
    registry = Registry(session)
    client = create_app(registry).server.test_client()
    client.environ_base["HTTP_HOST"] = "127.0.0.1:8050"
    for command, arguments in SCRIPT:
        answer = client.post(
            f"/api/do/{registry.epoch}-0123456789",
            json={"command": command, "args": list(arguments)},
        )
        assert answer.status_code == 200
        assert answer.get_json()["error"] == ""
        session.wait(60)
    return session


def through_terminal() -> Debugger:
    session = mlp_session()

    async def script(drive: Drive) -> None:
        for command, arguments in SCRIPT:
            drive.app.command(command, *arguments)
            await drive.settle()
            session.wait(60)

    return play(script, session=session)


def test_three_faces_show_the_same() -> None:
    core = views(through_core())
    assert core["values"]["state"] == "ready"
    assert core["pe"]["values"]["kept"] > 0
    assert views(through_browser()) == core
    assert views(through_terminal()) == core


def test_values_have_keys_in_the_shared_table() -> None:
    keys = keymap()
    assert (keys["V"], keys["T"]) == ("values", "tensors")
