"""Every command of the table is carried out once, by its name, and answers or moves something."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands import COMMANDS
from app.debugger import Debugger
from app.tui.keys import TABLE
from tests.app.tui.factory import Drive, play

CORE = sorted(c.id for c in COMMANDS.values() if c.scope == "core")
GIVEN: dict[str, str] = {
    "seek": "3", "cycle": "300", "stride": "event", "sample": "1", "pe": "2 3", "kernel": "fc1",
    "region": "0 0 4 4", "goto": "2,3", "search": "fc", "metric": "sram_live", "pan": "1 1",
    "set": "slots 3", "break": "step 4", "watch": "sram > 1KB", "until": "link > 10%",
    "until-back": "link > 10%", "delete": "1", "enable": "1", "disable": "1", "once": "1",
    "ignore": "1 2", "explain": "step 3", "advise": "0.01", "optimize": "0.01",
}  # fmt: skip
"""arguments, where a command needs them or would do nothing without"""
FIRST: dict[str, tuple[str, ...]] = {
    "back": ("last",), "event-back": ("last",), "first": ("last",), "clear": ("pe 2 3",),
    "zoom-out": ("zoom-in",), "fit": ("zoom-in",), "pan": ("zoom-in",), "focus": ("pe 2 3",),
    "undo": ("set slots 3",), "redo": ("set slots 3", "undo"), "compare": ("set slots 3",),
    "continue": ("break step 4",), "reverse": ("break step 4", "last"),
    "until-back": ("last",), "hot-back": ("pe 2 3",), "metric-utilization": ("metric traffic",),
    "reveal": ("kernel fc1",),
    "load-config": ("save-config {folder}/knobs.yaml",),
    "export-difference": ("set slots 3", "compare"),
    **dict.fromkeys(("delete", "enable", "disable", "once", "ignore"), ("break step 4",)),
}  # fmt: skip
"""lines before, where a command builds on something"""
FILES = {
    "export": "{folder}/map.csv", "export-difference": "{folder}/map.png",
    "save-config": "{folder}/knobs.yaml", "load-config": "{folder}/knobs.yaml",
}  # fmt: skip


def _run(debugger: Debugger, line: str) -> None:
    name, *words = line.split()
    debugger.do(name, *words)
    debugger.wait(60)


@pytest.mark.parametrize("name", CORE)
def test_command_answers_or_moves_something(name: str, debugger: Debugger, tmp_path: Path) -> None:
    for line in FIRST.get(name, ()):
        _run(debugger, line.format(folder=tmp_path))
    before = debugger.revision
    given = FILES.get(name, GIVEN.get(name, "")).format(folder=tmp_path)
    _run(debugger, f"{name} {given}")
    job = debugger.job
    assert job is None or job.state == "done"
    assert debugger.revision > before or name == "cancel"
    if name in FILES:
        assert Path(given).stat().st_size > 0


def test_every_screen_command_has_its_place_in_the_terminal() -> None:
    async def script(drive: Drive) -> None:
        faces = {c.id for c in TABLE.values() if c.scope == "face"}
        assert set(drive.app._faces) >= faces - UNSEEN
        for command in sorted(faces - UNSEEN - {"quit"}):
            drive.app.command(command)
            await drive.settle()
            assert "not there in the terminal" not in "\n".join(drive.screen_text()), command
            while len(drive.app.screen_stack) > 2:
                drive.app.pop_screen()
                await drive.settle()

    play(script)


UNSEEN: set[str] = set()
"""commands of other screens only"""
