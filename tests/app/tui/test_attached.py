"""The terminal on a server's session: both cursors move together, also past the server's death."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from app.remote.link import Link, parse_address
from app.remote.session import RemoteSession
from app.tui.app import WaferscopeApp
from app.tui.glyphs import BLOCKS
from tests.app.served import WAIT_SECONDS, ServerProcess, attached, served
from tests.app.sessions import mlp_session
from tests.app.tui.factory import Drive


def drive(session: RemoteSession, script: Callable[[Drive], Awaitable[None]]) -> None:
    """Run a script against the terminal on a session."""

    async def main() -> None:
        app = WaferscopeApp(session, BLOCKS)
        async with app.run_test(size=(140, 44)) as pilot:
            hand = Drive(app, pilot)
            await hand.settle()
            await script(hand)

    asyncio.run(main())


async def until(hand: Drive, holds: Callable[[], object], what: str) -> None:
    """Let the terminal live until something holds."""
    end = monotonic() + WAIT_SECONDS
    while not holds():
        assert monotonic() < end, f"waited {WAIT_SECONDS:g} s: {what}"
        await hand.pilot.pause(0.05)


def state_of(port: int, session: str) -> Any:
    """Return the state that a page of the session gets."""
    address = f"http://127.0.0.1:{port}/api/state/{session}"
    with urllib.request.urlopen(address, timeout=20) as answer:
        return json.load(answer)


def act_as_page(port: int, session: str, command: str, *args: object) -> None:
    """Run a command as a page of the session does."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/do/{session}",
        json.dumps({"command": command, "args": args}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        assert json.load(answer)["error"] == ""


def shown_step(hand: Drive) -> int:
    """Return the step that the terminal's map shows."""
    shot = hand.app.main.snapshot
    assert shot is not None
    return shot.map.step


def test_a_key_in_the_terminal_moves_the_page_and_a_click_there_moves_the_terminal() -> None:
    with served(mlp_session()) as server, attached(server.link()) as session:

        async def script(hand: Drive) -> None:
            await hand.press("end")
            state = state_of(server.port, session.id)
            assert state["cursor"]["step"] == shown_step(hand) == state["status"]["steps"] - 1
            act_as_page(server.port, session.id, "seek", 9)
            await until(hand, lambda: shown_step(hand) == 9, "the terminal follows")
            act_as_page(server.port, session.id, "kernel", "fc1")
            act_as_page(server.port, session.id, "metric", "traffic")
            await until(hand, lambda: hand.app.metric == "traffic", "the metric follows")
            await until(hand, lambda: "fc1" in "\n".join(hand.screen_text()), "the kernel too")

        drive(session, script)


def test_a_knob_turned_by_the_page_is_shown_with_its_delta() -> None:
    with served(mlp_session()) as server, attached(server.link()) as session:

        async def script(hand: Drive) -> None:
            act_as_page(server.port, session.id, "set", "samples", "2")
            main = hand.app.main
            await until(
                hand, lambda: main.snapshot and main.snapshot.status.samples == 2, "two samples"
            )
            assert main.snapshot is not None
            assert main.snapshot.status.delta is not None

        drive(session, script)


def test_every_page_of_the_terminal_opens_on_a_server() -> None:
    with served(mlp_session()) as server, attached(server.link()) as session:

        async def script(hand: Drive) -> None:
            for key, words in {
                "i": "Idle regions", "r": "Report", "K": "Kernels", "H": "Hot links",
                "A": "Advice", "X": "Why", "O": "lower bound", "B": "Breakpoints", "T": "values",
            }.items():  # fmt: skip
                await hand.press(key)
                text = "\n".join(hand.screen_text())
                assert words in text, key
                assert "fault" not in text, key
                await hand.press("escape")

        drive(session, script)


def test_a_dead_server_is_said_and_the_view_is_back_with_the_next() -> None:
    first = ServerProcess()
    servers = [first]
    with attached(Link(parse_address(first.address))) as session:

        async def script(hand: Drive) -> None:
            await hand.press("home", "5")
            hand.app.command("seek", 21)
            await hand.settle()
            first.kill()
            words = "does not answer"
            await until(hand, lambda: words in "\n".join(hand.screen_text()), "it is said")
            hand.app.command("next")
            await until(hand, lambda: hand.app.courier.is_idle, "the key is answered")
            assert "internal fault" not in "\n".join(hand.screen_text())
            servers.append(ServerProcess(first.port))
            await until(hand, lambda: words not in "\n".join(hand.screen_text()), "it is back")
            state = state_of(first.port, session.id)
            assert state["cursor"]["step"] == shown_step(hand) == 21
            assert state["cursor"]["metric"] == hand.app.metric == "traffic"
            await hand.press("n")
            moved = state_of(first.port, session.id)["cursor"]["step"]
            assert moved == shown_step(hand) > 21

        drive(session, script)
    servers[-1].kill()
