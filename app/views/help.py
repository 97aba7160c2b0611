"""The help page, from the table of commands. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.commands import COMMANDS
from app.views.base import View


@dataclass(frozen=True, slots=True)
class HelpRow:
    """One command as people read it."""

    id: str
    keys: tuple[str, ...]
    usage: str
    """as typed on the command line, such as 'seek STEP'"""
    label: str
    help: str
    group: str


@dataclass(frozen=True, slots=True)
class HelpView(View):
    """Every command there is, by group."""

    rows: tuple[HelpRow, ...]


def view_help() -> HelpView:
    """Return the help page."""
    rows = tuple(
        HelpRow(c.id, c.keys, c.usage, c.label, c.help, c.group) for c in COMMANDS.values()
    )
    return HelpView(rows)
