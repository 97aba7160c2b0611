"""Bring the quotes of docs/walkthrough.md up to date: `python docs/make_walkthrough.py`.

Plays the commands of the page and puts what was said nearest to each quote in its place.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from pathlib import Path

from app.debugger import Debugger
from app.headless import play
from app.views.build_report import view_report
from engine.machine import parse_machine
from lowering.config import CompileConfig

PAGE = Path(__file__).with_name("walkthrough.md")
_NEAR = 0.5


def quotes(text: str) -> list[str]:
    """Return the quoted lines of the page."""
    return re.findall(r"^> (.+)$", text, re.MULTILINE)


def scripts(text: str) -> list[str]:
    """Return the commands that the page has played, in order."""
    blocks = re.findall(r"^```waferscope\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def said(text: str) -> list[str]:
    """Return everything that the report and the page's commands answer, line by line."""
    config = replace(CompileConfig(mode="pipeline"), machine=parse_machine("mesh-128x128"))
    session = Debugger.open("gpt2-small", config)
    lines = view_report(session.run).text.splitlines()
    for answer in play(session, scripts(text)):
        lines += [answer.message, str(getattr(answer.view, "sentence", ""))]
    return lines


def main() -> None:
    """Write the page anew."""
    text = PAGE.read_text(encoding="utf-8")
    lines = said(text)
    for quote in quotes(text):
        near = difflib.get_close_matches(quote, lines, 1, _NEAR)
        if quote not in lines and near:
            print(f"- {quote}\n+ {near[0]}")
            text = text.replace(quote, near[0])
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
