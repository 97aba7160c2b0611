"""What a person sees at three sizes and four depths of colour, kept as text and compared.

`WRITE_GOLDENS=1 pytest tests/terminal/test_goldens.py` writes them anew; look before you keep.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.terminal.test_tmux import Terminal

GOLDENS = Path(__file__).parent / "goldens"
DEPTHS = {
    "truecolor": "COLORTERM=truecolor TERM=xterm-256color",
    "256": "-u COLORTERM TERM=xterm-256color",
    "16": "-u COLORTERM TERM=xterm",
    "nocolor": "NO_COLOR=1",
}
SIZES = ((80, 24), (120, 40), (200, 60))
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    window = Terminal(*request.param)
    yield window
    window.close()


def _cases() -> list[object]:
    return [
        pytest.param((cols, rows, environ), f"{depth}-{cols}x{rows}", id=f"{depth}-{cols}x{rows}")
        for depth, environ in DEPTHS.items()
        for cols, rows in SIZES
    ]


@pytest.mark.parametrize(("terminal", "name"), _cases(), indirect=["terminal"])
def test_the_screen_is_as_it_was_looked_at(terminal: Terminal, name: str) -> None:
    terminal.wait_for("ledger ok")
    terminal.press("Home", "2")
    terminal.wait_for("dominant cause")
    terminal.press("l")
    coloured = terminal.settled("step 0/", ansi=True)
    shown = [_COLOUR.sub("", line).rstrip() for line in coloured]
    found = "\n".join([*shown, *_colour_counts(coloured)]) + "\n"
    path = GOLDENS / f"{name}.txt"
    if os.environ.get("WRITE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


def _colour_counts(lines: list[str]) -> list[str]:
    """Return how many different colours of each kind the terminal was asked for."""
    codes = set(_COLOUR.findall("\n".join(lines)))
    joined = " ".join(codes)
    true = len(set(re.findall(r"[34]8[:;]2[:;][0-9:;]+?(?=m)", joined)))
    few = len(set(re.findall(r"[34]8[:;]5[:;]\d+", joined)))
    return [f"-- colours asked for: true {true}, of 256 {few}"]
