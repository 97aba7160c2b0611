"""The command palette: type a few letters, choose a command. Knows no debugger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from app.commands import Command


def matching(commands: Sequence[Command], typed: str) -> list[Command]:
    """Return the commands that hold every word typed; those whose name begins so come first."""
    words = typed.lower().split()
    found = [
        command
        for command in commands
        if all(w in f"{command.id} {command.label} {command.help}".lower() for w in words)
    ]
    first = words[0] if words else ""
    return sorted(found, key=lambda command: not command.id.startswith(first))


class PalettePage(ModalScreen[str | None]):
    """Lists the commands that match; dismisses with the id of the one chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("down", "move(1)", "down", show=False, priority=True),
        Binding("up", "move(-1)", "up", show=False, priority=True),
    ]

    def __init__(self, commands: Sequence[Command]) -> None:
        super().__init__()
        self._commands = tuple(commands)

    def compose(self) -> ComposeResult:
        """Line, list, keys."""
        with Vertical(classes="page"):
            yield Input(placeholder="a few letters of a command", compact=True)
            yield OptionList()
            yield Static(Text("Enter runs it, arrows choose, Escape closes", "dim"), classes="foot")

    def on_mount(self) -> None:
        """List all."""
        self._list("")
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """List what matches."""
        self._list(event.value)

    def _list(self, typed: str) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        for command in matching(self._commands, typed):
            line = Text(f"{command.usage:<34} ", "bold", no_wrap=True, overflow="ellipsis")
            line.append(f"{' '.join(command.keys):<9}", "not bold")
            options.add_option(Option(line.append(command.help, "not bold dim"), id=command.id))
        if options.option_count:
            options.highlighted = 0

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Choose the command under the mark."""
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            self.dismiss(options.get_option_at_index(options.highlighted).id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose the command that was clicked."""
        self.dismiss(event.option.id)

    def action_move(self, by: int) -> None:
        """Move the mark."""
        options = self.query_one(OptionList)
        if by > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def action_leave(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
