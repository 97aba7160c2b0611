"""One script through core, headless twin, terminal, browser and HTTP gives equal views."""

from __future__ import annotations

from app.command_line import split_line
from app.debugger import Debugger
from app.headless import play_line
from app.remote.session import RemoteSession
from app.tui.courier import Look
from app.views.base import View
from app.web import Registry, create_app
from tests.app.served import attached, served
from tests.app.sessions import mlp_run
from tests.app.tui.factory import Drive, play

SCRIPT = """
next
next 3
back
event
event-back
seek 7
cycle 300
first
last
peak
stride event
next 2
stride sample
next
stride layer
first
next 2
back
stride kernel
sample 1
next
pe 3 4
north
south
east
west
goto 5
goto 2,3
goto fc1
search fc
kernel scores
region 0 0 8 8
focus
clear
metric kind
metric phase
hot
metric traffic
peak
hot
hot-back
metric-sram_live
log
log
zoom-in
zoom-out
pan 2 2
fit
break kernel fc1 start
watch sram > 4380
watch link > 90%
watch sram allocated > 4350B
first
continue
continue
reverse
ignore 1 1
disable 2
continue
enable 2
once 3
delete 4
until kernel == "scores" and starts
until-back link > 50% and kernel == fc1
explain kernel fc1
explain link 6,18 east
explain step 9
set slots 3
compare
set samples 3
compare
metric utilization
undo
redo
compare off
advise 60
set mode streaming
peak
""".strip().splitlines()


def views_of(debugger: Debugger | RemoteSession) -> dict[str, object]:
    """Return everything that a screen paints, in JSON's types."""
    views = {
        "status": debugger.view_status(), "map": debugger.view_map(24, 64),
        "pe": debugger.view_pe(), "kernel": debugger.view_kernel(),
        "breaks": debugger.view_breaks(), "why": debugger.view_explain(),
        "hot": debugger.find_hot("step"), "timeline": debugger.view_timeline(),
        "advice": debugger.view_advice(), "compare": debugger.view_compare(),
        "difference": debugger.view_difference(16, 32), "knobs": debugger.view_knobs(),
        "idle": debugger.find_idle(), "bottleneck": debugger.view_bottleneck(),
        "report": debugger.view_report(), "memory": debugger.view_memory(),
        "activations": debugger.view_activations(), "streaming": debugger.view_streaming(),
    }  # fmt: skip
    return {name: None if v is None else plain_view(v) for name, v in views.items()}


def plain_view(view: View) -> dict[str, object]:
    """Return a view in JSON's types but for the run's number, which no two sessions share."""
    found = view.to_json()
    found.pop("run_id", None)
    return found


def do_line(debugger: Debugger, line: str) -> None:
    """Run a line and wait for the work it starts."""
    command, arguments = split_line(line)
    debugger.do(command.id, *arguments)
    debugger.wait(60)


def test_core_and_headless_show_the_same() -> None:
    assert len(SCRIPT) >= 60
    core, headless = Debugger(mlp_run()), Debugger(mlp_run())
    for number, line in enumerate(SCRIPT, 1):
        do_line(core, line)
        answer = play_line(headless, line, number)
        assert answer.view is not None
        assert plain_view(answer.view) == plain_view(core.view_status()), line
        if number % 10 == 0 or number > 60:
            assert views_of(core) == views_of(headless), line


def test_the_terminal_shows_the_same() -> None:
    core, terminal = Debugger(mlp_run()), Debugger(mlp_run())

    async def script(drive: Drive) -> None:
        for number, line in enumerate(SCRIPT, 1):
            command, arguments = split_line(line)
            do_line(core, line)
            drive.app.command(command.id, *arguments)
            await drive.settle()
            terminal.wait(60)
            drive.app.courier.send(Look())
            await drive.settle()
            shot = drive.app.main.snapshot
            assert shot is not None
            assert shot.error == ""
            assert plain_view(shot.status) == plain_view(core.view_status()), line
            if number % 20 == 0 or number == len(SCRIPT):
                assert views_of(core) == views_of(terminal), line

    play(script, session=terminal)


def test_the_browser_shows_the_same() -> None:
    core, browser = Debugger(mlp_run()), Debugger(mlp_run())
    registry = Registry(browser)
    client = create_app(registry).server.test_client()
    client.environ_base["HTTP_HOST"] = "127.0.0.1:8050"
    for line in SCRIPT:
        command, arguments = split_line(line)
        do_line(core, line)
        answer = client.post(
            f"/api/do/{registry.epoch}-0123456789",
            json={"command": command.id, "args": list(arguments)},
        )
        assert answer.get_json()["error"] == "", line
        browser.wait(60)
    assert views_of(core) == views_of(browser)


def test_a_session_over_http_shows_the_same() -> None:
    core, debugger = Debugger(mlp_run()), Debugger(mlp_run())
    with served(debugger) as server, attached(server.link()) as remote:
        for number, line in enumerate(SCRIPT, 1):
            command, arguments = split_line(line)
            do_line(core, line)
            remote.do(command.id, *arguments)
            debugger.wait(60)
            assert plain_view(remote.view_status()) == plain_view(core.view_status()), line
            if number % 10 == 0 or number > 60:
                assert views_of(remote) == views_of(core), line
