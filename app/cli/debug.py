"""`debug`: a script of debugger commands, its views printed as text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from app.cli.faults import UsageError
from app.cli.main import OK
from app.cli.options import config_of, dims_of, shape_of
from app.cli.progress import shown_progress
from app.debugger import Debugger
from app.headless import Answer, play
from app.view_text import view_text
from app.views.status import StatusView

MOST_BYTES = 4 << 20
"""of a script"""


def debug(arguments: argparse.Namespace) -> int:
    """Run a script; a line that fails ends it, named by its number."""
    lines = read_script(arguments.script)
    tuned = (arguments.machine, arguments.config, arguments.samples)
    if arguments.file.lower().endswith(".wscope") and (
        any(tuned) or arguments.settings or arguments.dims
    ):
        raise UsageError(
            f"{arguments.file} carries its own knobs; turn them with 'set' in the script"
        )
    config, dims = config_of(arguments), dims_of(arguments)
    with shown_progress(f"opened {arguments.file}") as progress:
        debugger = Debugger.open(
            arguments.file, config, dims=dims, shape=shape_of(arguments), progress=progress
        )
    for answer in play(debugger, lines):
        print(json.dumps(answer.to_json()) if arguments.json else answer_text(answer), flush=True)
    return OK


def read_script(name: str) -> list[str]:
    """Return the lines of a script; '-' reads standard input.

    Raises:
        UsageError: it cannot be read.
    """
    if name == "-":
        return sys.stdin.read(MOST_BYTES).splitlines()
    try:
        with Path(name).open(encoding="utf-8") as stream:
            return stream.read(MOST_BYTES).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the script {name} cannot be read: {error}") from None


def answer_text(answer: Answer) -> str:
    """Return an answer as text: the line, then its message or its view."""
    if isinstance(answer.view, StatusView) and not answer.command.startswith("show"):
        body = "\n".join(part for part in (answer.message, answer.view.sentence) if part)
    else:
        body = answer.message or view_text(answer.view)
    return f"> {answer.command}\n{body}\n"
