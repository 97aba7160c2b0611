"""The walkthrough: its commands are played, and what it quotes is what was said."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.main import main
from app.debugger import Debugger
from app.headless import play
from engine.machine import parse_machine
from lowering.config import CompileConfig

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "walkthrough.md").read_text(encoding="utf-8")


def quotes() -> list[str]:
    return re.findall(r"^> (.+)$", PAGE, re.MULTILINE)


def scripts() -> list[str]:
    blocks = re.findall(r"^```waferscope\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def said() -> str:
    """Everything that the page's commands answer, one after the other."""
    config = replace(CompileConfig(mode="pipeline"), machine=parse_machine("mesh-128x128"))
    session = Debugger.open("gpt2-small", config)
    lines = []
    for answer in play(session, scripts()):
        assert answer.view is not None
        lines += [answer.message, str(answer.view.to_json()["sentence"])]
    return "\n".join(lines)


def test_quoted_lines_are_what_the_product_says(
    said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = re.findall(r"^waferscope (check .+)$", PAGE, re.MULTILINE)
    assert main(command[0].split()) == 1
    heard = f"{capsys.readouterr().out}\n{said}".splitlines()
    assert len(quotes()) >= 8
    for quote in quotes():
        assert quote in heard


def test_pictures_are_there() -> None:
    for name in re.findall(r"\]\((images/[^)]+)\)", PAGE):
        assert (DOCS / name).stat().st_size > 10_000, name
