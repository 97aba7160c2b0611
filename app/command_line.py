"""A typed line as a command of a table and its arguments. Knows no screen."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping

from app.commands import COMMANDS, Command, CommandError


def split_line(
    line: str, table: Mapping[str, Command] = COMMANDS
) -> tuple[Command, tuple[str, ...]]:
    """Read a typed line; a condition keeps its quotes.

    Raises:
        CommandError: nothing typed, quotes left open, or no such command.
    """
    name, _, rest = line.strip().partition(" ")
    if not name:
        raise CommandError("nothing was typed; 'help' lists all commands")
    command = table.get(name)
    words: tuple[str, ...] = (rest.strip(),) if rest.strip() else ()
    if command is None or not command.takes_rest:
        words = _words(line, rest)
    if command is None:
        near = difflib.get_close_matches(name, table, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else "; 'help' lists all"
        raise CommandError(f"there is no command '{name}'{hint}")
    return command, words


def _words(line: str, rest: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(rest))
    except ValueError as error:
        raise CommandError(f"cannot read '{line.strip()}': {error}") from None
