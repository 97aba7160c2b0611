"""The walkthrough: its commands are played, and what it quotes is what was said."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from app.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "walkthrough.md").read_text(encoding="utf-8")


def test_quoted_lines_are_what_the_product_says() -> None:
    made = runpy.run_path(str(DOCS / "make_walkthrough.py"))
    lines, found = made["said"](PAGE), made["quotes"](PAGE)
    assert len(found) >= 8
    for quote in found:
        assert quote in lines, f"run python docs/make_walkthrough.py: {quote}"


def test_command_that_checks_says_that_it_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    command = re.findall(r"^waferscope (check .+)$", PAGE, re.MULTILINE)
    assert main(command[0].split()) == 1
    assert "DOES NOT FIT" in capsys.readouterr().out


def test_pictures_are_there() -> None:
    for name in re.findall(r"\]\((images/[^)]+)\)", PAGE):
        assert (DOCS / name).stat().st_size > 10_000, name
