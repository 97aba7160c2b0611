"""A line to type on at the bottom of the screen. Knows no debugger."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static


class PromptPage(ModalScreen[str | None]):
    """Asks for a line; dismisses with it, None when left."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back")]

    def __init__(
        self,
        title: str,
        help_text: str,
        value: str = "",
        words: tuple[str, ...] = (),
        history: tuple[str, ...] = (),
    ) -> None:
        """`words` complete with the right arrow; the up arrow walks `history`, oldest first."""
        super().__init__(classes="prompt")
        self._title_text = title
        self._help = help_text
        self._value = value
        self._words = words
        self._history = (*history, "")
        self._place = len(history)

    def compose(self) -> ComposeResult:
        """Title, help, line."""
        suggester = SuggestFromList(self._words) if self._words else None
        with Vertical(classes="line"):
            text = Text(self._title_text, "bold")
            yield Static(text.append(f"  {self._help}", "not bold dim"))
            yield Input(self._value, suggester=suggester, select_on_focus=True, compact=True)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the line back."""
        self.dismiss(event.value.strip() or None)

    def on_key(self, event: events.Key) -> None:
        """Walk what was typed before."""
        by = {"up": -1, "down": 1}.get(event.key, 0)
        if not by:
            return
        event.stop()
        self._place = min(max(self._place + by, 0), len(self._history) - 1)
        line = self.query_one(Input)
        line.value = self._history[self._place]
        line.cursor_position = len(line.value)

    def action_leave(self) -> None:
        """Close without a line."""
        self.dismiss(None)
