"""Keys and typed commands, from the one table of commands. Knows no widgets.

A few commands exist only where there is no mouse; they stand here with the same fields.
"""

from __future__ import annotations

import difflib
import shlex

from app.commands import COMMANDS, Command, CommandError
from app.views.help import HelpRow, HelpView

_ARROWS = (("west", "left"), ("south", "down"), ("north", "up"), ("east", "right"))
_OWN = (
    Command("knobs", ("o",), "knobs", "list the knobs and change one", "screen", "",
            scope="face"),
    Command("kernels", ("K",), "kernels", "list the kernels and select one", "screen", "",
            scope="face"),
    Command("metrics", ("m",), "metrics", "choose the metric from a list", "screen", "",
            scope="face"),
    Command("inspector", ("v",), "inspector", "show or hide the side panel", "screen", "",
            scope="face"),
    Command("side-down", ("pagedown",), "panel down", "scroll the side panel down", "screen", "",
            scope="face"),
    Command("side-up", ("pageup",), "panel up", "scroll the side panel up", "screen", "",
            scope="face"),
    *(Command(f"far-{side}", (f"shift+{arrow}",), f"far {side}",
              f"move the selected PE {side} by what a character shows, at least 8 PEs", "select",
              "", scope="face")
      for side, arrow in _ARROWS),
    Command("cancel", ("x",), "cancel", "stop the work in the background", "knobs",
            "cancel"),
)  # fmt: skip

TABLE: dict[str, Command] = {
    **COMMANDS,
    **{c.id: c for c in _OWN if c.id not in COMMANDS or not COMMANDS[c.id].keys},
}
"""every command of the terminal by id"""

_HINTS = (
    ("n/N", "step"), ("hjkl", "move"), ("1-9", "metric"), ("o", "knobs"), ("?", "help"),
    ("q", "quit"), ("i", "idle"), ("v", "inspect"), ("space", "play"), ("+-0", "zoom"),
    ("r", "report"), ("K", "kernels"), (". ,", "hot spot"), ("t", "stride"), ("g", "go to"),
    ("V T", "values"), ("u", "undo"), ("e", "export"), (":", "command"),
)  # fmt: skip
"""what the last line offers, most needed first"""


def key_commands() -> dict[str, str]:
    """Return key -> command id; a key of the shared table wins."""
    keys = {key: c.id for c in TABLE.values() for key in c.keys}
    keys.update({key: c.id for c in COMMANDS.values() for key in c.keys})
    return keys


def key_name(key: str, character: str | None) -> str:
    """Return a key event's name in the table's words: a character, or a word such as 'left'."""
    return character if character and character.isprintable() and character != " " else key


def parse_line(line: str) -> tuple[Command, tuple[str, ...]]:
    """Read a typed command.

    Raises:
        CommandError: nothing typed, quotes left open, or no such command.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CommandError(f"cannot read '{line}': {error}") from None
    if not words:
        raise CommandError("nothing was typed; '?' lists all commands")
    command = TABLE.get(words[0])
    if command is None:
        near = difflib.get_close_matches(words[0], TABLE, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else "; '?' lists all"
        raise CommandError(f"there is no command '{words[0]}'{hint}")
    return command, tuple(words[1:])


def view_own_help() -> HelpView:
    """Return the help page with the terminal's own commands."""
    return HelpView(
        tuple(HelpRow(c.id, c.keys, c.usage, c.label, c.help, c.group) for c in TABLE.values())
    )


def hints(width: int) -> list[tuple[str, str]]:
    """Return the (key, label) pairs that fit in `width` cells."""
    kept: list[tuple[str, str]] = []
    used = 0
    for key, label in _HINTS:
        used += len(key) + len(label) + 3
        if used > width:
            break
        kept.append((key, label))
    return kept
