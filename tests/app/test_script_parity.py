"""One script of 60 commands through core, headless twin, terminal and browser: equal views."""

from __future__ import annotations

from app.command_line import split_line
from app.debugger import Debugger
from app.headless import play_line
from app.web import Registry, create_app
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
""".strip().splitlines()
VIEWS = ("status", "map", "pe", "kernel", "breaks", "why", "hot", "timeline", "advice")


def _views(debugger: Debugger) -> dict[str, object]:
    views = {
        "status": debugger.view_status(), "map": debugger.view_map(24, 64),
        "pe": debugger.view_pe(), "kernel": debugger.view_kernel(),
        "breaks": debugger.view_breaks(), "why": debugger.view_explain(),
        "hot": debugger.find_hot("step"), "timeline": debugger.view_timeline(),
        "advice": debugger.view_advice(),
    }  # fmt: skip
    return {name: None if v is None else v.to_json() for name, v in views.items()}


def test_core_and_headless_show_the_same() -> None:
    assert len(SCRIPT) == 60
    core, headless = Debugger(mlp_run()), Debugger(mlp_run())
    for number, line in enumerate(SCRIPT, 1):
        command, arguments = split_line(line)
        core.do(command.id, *arguments)
        answer = play_line(headless, line, number)
        assert answer.view is not None
        assert answer.view.to_json() == core.view_status().to_json(), line
        if number % 10 == 0:
            assert _views(core) == _views(headless), line


def test_the_terminal_shows_the_same() -> None:
    core, terminal = Debugger(mlp_run()), Debugger(mlp_run())

    async def script(drive: Drive) -> None:
        for number, line in enumerate(SCRIPT, 1):
            command, arguments = split_line(line)
            core.do(command.id, *arguments)
            drive.app.command(command.id, *arguments)
            await drive.settle()
            shot = drive.app.main.snapshot
            assert shot is not None
            assert shot.error == ""
            assert shot.status.to_json() == core.view_status().to_json(), line
            if number % 20 == 0:
                assert _views(core) == _views(terminal), line

    play(script, session=terminal)


def test_the_browser_shows_the_same() -> None:
    core, browser = Debugger(mlp_run()), Debugger(mlp_run())
    registry = Registry(browser)
    client = create_app(registry).server.test_client()
    client.environ_base["HTTP_HOST"] = "127.0.0.1:8050"
    for line in SCRIPT:
        command, arguments = split_line(line)
        core.do(command.id, *arguments)
        answer = client.post(
            f"/api/do/{registry.epoch}-0123456789",
            json={"command": command.id, "args": list(arguments)},
        )
        assert answer.get_json()["error"] == "", line
    assert _views(core) == _views(browser)
