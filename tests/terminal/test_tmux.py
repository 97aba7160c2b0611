"""The terminal view in a real terminal: tmux shows it, keys reach it, it leaves cleanly."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = (
    "import sys; from app.tui import run; from tests.app.tui.factory import small_session; "
    "sys.exit(run(small_session()))"
)

_numbers = itertools.count()


@pytest.fixture(scope="module", autouse=True)
def _tmux() -> None:
    """A missing tmux fails these tests: a skip would hide that nothing was looked at."""
    assert shutil.which("tmux"), "tmux is missing: sudo apt-get install -y tmux"


class Terminal:
    """One tmux server with one window of its own."""

    def __init__(self, cols: int, rows: int, environ: str) -> None:
        name = f"waferscope-test-{os.getpid()}-{next(_numbers)}"
        self._base = ["tmux", "-L", name, "-f", "/dev/null"]
        python = f"{shlex.quote(sys.executable)} -c {shlex.quote(CODE)}"
        program = f"env -u COLUMNS -u LINES {environ} {python}"
        self._tmux("new-session", "-d", "-x", str(cols), "-y", str(rows), "-c", str(ROOT),
                   f"{program}; echo left with $?; sleep 60")  # fmt: skip

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(
            [*self._base, *words], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout

    def press(self, *keys: str) -> None:
        """Send keys."""
        self._tmux("send-keys", *keys)

    def wait_for(self, text: str, seconds: float = 30.0) -> list[str]:
        """Return the lines on screen once `text` stands there."""
        end = time.monotonic() + seconds
        while text not in (shown := self._tmux("capture-pane", "-p")):
            assert time.monotonic() < end, f"'{text}' did not appear in:\n{shown}"
            time.sleep(0.1)
        return shown.splitlines()

    def wait_without(self, text: str, seconds: float = 30.0) -> None:
        """Return once `text` has gone from the screen."""
        end = time.monotonic() + seconds
        while text in (shown := self._tmux("capture-pane", "-p")):
            assert time.monotonic() < end, f"'{text}' did not go from:\n{shown}"
            time.sleep(0.1)

    def settled(self, text: str, ansi: bool = False) -> list[str]:
        """Return the screen once `text` stands there and two looks are equal."""
        before = self.wait_for(text)
        while True:
            time.sleep(0.3)
            now = self.wait_for(text)
            if now == before:
                break
            before = now
        words = ("capture-pane", "-p", "-e") if ansi else ("capture-pane", "-p")
        return self._tmux(*words).splitlines()

    def close(self) -> None:
        """End this server."""
        self._tmux("kill-server")


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    window = Terminal(*request.param)
    yield window
    window.close()


@pytest.mark.parametrize("terminal", [(80, 24, "COLORTERM=truecolor")], indirect=True)
def test_keys_work_and_quit_leaves_with_zero(terminal: Terminal) -> None:
    lines = terminal.wait_for("ledger ok")
    assert any("▀" in line for line in lines) or any("┆0" in line for line in lines)
    terminal.press("Home", "s")
    terminal.wait_for("step 1/")
    terminal.press("2")
    terminal.wait_for("dominant cause")
    terminal.press("?")
    terminal.wait_for("Help: keys and commands")
    terminal.press("Escape")
    terminal.wait_without("Help: keys")
    terminal.press("q")
    terminal.wait_for("left with 0")


@pytest.mark.parametrize(
    ("terminal", "reason"),
    [
        ((80, 24, "NO_COLOR=1"), "NO_COLOR is set"),
        ((80, 24, "TERM=dumb"), "TERM is dumb"),
        ((80, 24, "-u COLORTERM TERM=xterm"), "16 colours or fewer"),
    ],
    indirect=["terminal"],
)
def test_without_colours_characters_do(terminal: Terminal, reason: str) -> None:
    lines = terminal.wait_for(reason)
    assert not any("▀" in line for line in lines)
    terminal.press("4")
    lines = terminal.wait_for("SRAM allocated")
    assert any("' .:-=+*#%@'" in line for line in lines)
    terminal.press("q")
    terminal.wait_for("left with 0")


@pytest.mark.parametrize("terminal", [(200, 60, "COLORTERM=truecolor")], indirect=True)
def test_a_large_screen_shows_panel_and_lanes(terminal: Terminal) -> None:
    terminal.wait_for("Nothing is selected")
    lines = terminal.wait_for("scores")
    for part in ("traffic", "SRAM live", "fc0"):
        assert any(line.startswith(part) for line in lines), part
