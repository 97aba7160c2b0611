"""Without a terminal the terminal view says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from app.tui import USAGE, run
from tests.app.tui.factory import small_session

ROOT = Path(__file__).resolve().parents[3]


def test_without_a_terminal_it_ends_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(small_session()) == USAGE == 2
    assert "needs a terminal" in capsys.readouterr().err


def test_importing_the_package_loads_no_textual() -> None:
    code = "import sys, app.tui; print('textual' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
