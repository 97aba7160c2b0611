"""A page of text to read and scroll. Knows no debugger."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static


class TextPage(ModalScreen[None]):
    """Shows a text; Escape, q or Enter close it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "leave", "back"),
        Binding("j", "scroll(1)", "down", show=False),
        Binding("k", "scroll(-1)", "up", show=False),
    ]

    def __init__(self, title: str, body: Text) -> None:
        super().__init__()
        self._title_text = title
        self._body = body

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        with Vertical(classes="page"):
            yield Static(Text(self._title_text, "bold"), classes="title")
            with VerticalScroll():
                yield Static(self._body, id="body")
            yield Static(Text("j k or arrows scroll, Escape closes", "dim"), classes="foot")

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_leave(self) -> None:
        """Close."""
        self.dismiss(None)
