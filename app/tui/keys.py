"""Keys and typed commands, from the one table of commands. Knows no widgets.

A few commands exist only where there is no mouse; they stand here with the same fields.
"""

from __future__ import annotations

from app.command_line import split_line
from app.commands import COMMANDS, Command, keymap
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
    Command("comparison", ("D",), "A | B", "show both runs side by side: figures, causes, kernels",
            "compare", "", scope="face"),
    Command("difference", ("M",), "difference map", "show what differs on the map, or no longer",
            "compare", "", scope="face"),
    Command("theme", ("I",), "theme", "a dark or a light ground", "screen", "", scope="face"),
    Command("palette", ("ctrl+p",), "palette", "find a command by a few letters", "screen", "",
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
    ("b c C", "breakpoints"), ("X", "why"), ("A", "advice"), ("V T", "values"),
    ("u", "undo"), ("d D M", "compare"), ("ctrl+p", "find"), ("e", "export"), (":", "command"),
)  # fmt: skip
"""what the last line offers, most needed first"""


def key_commands() -> dict[str, str]:
    """Return key -> command id; a key of the shared table wins."""
    keys = {key: c.id for c in TABLE.values() for key in c.keys}
    keys.update(keymap())
    return keys


def key_name(key: str, character: str | None) -> str:
    """Return a key event's name in the table's words: a character, or a word such as 'left'."""
    return character if character and character.isprintable() and character != " " else key


def parse_line(line: str) -> tuple[Command, tuple[str, ...]]:
    """Read a typed command.

    Raises:
        CommandError: nothing typed, quotes left open, or no such command.
    """
    return split_line(line, TABLE)


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
