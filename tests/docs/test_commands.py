"""Commands in the docs: each that is written out is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from app.cli.main import build_parser

DOCS = Path(__file__).parents[2] / "docs"
_COMMAND = re.compile(r"(?:^|`)waferscope ([a-z]+ [^`\n|]+)", re.MULTILINE)


def commands() -> list[str]:
    """Return the commands with arguments, without those that only show a form, such as [URL]."""
    found = {line for page in DOCS.glob("*.md") for line in _COMMAND.findall(page.read_text())}
    return sorted(line.strip() for line in found if "[" not in line)


@pytest.mark.parametrize("line", commands())
def test_a_command_of_the_docs_is_taken(line: str) -> None:
    words = shlex.split(line, comments=True)
    assert build_parser().parse_args(words).verb == words[0]


def test_there_are_commands() -> None:
    assert len(commands()) > 10
