"""A page with a table: choose a row by keyboard or mouse. Knows no debugger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import DataTable, Static


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What a table page shows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    details: tuple[str, ...]
    """text below the table for each row; empty for none"""
    foot: str
    """what the keys do"""
    start: int = 0
    """row under the cursor at first"""
    keys: tuple[str, ...] = ()
    """keys that choose a row in another way, returned with its index"""


Choice = tuple[int, str]
"""(row, key): 'enter' or one of the spec's keys"""


class TablePage(ModalScreen[Choice | None]):
    """Shows rows; dismisses with the row chosen, None when left."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back"),
        Binding("j", "down", "down", show=False),
        Binding("k", "up", "up", show=False),
    ]

    def __init__(self, spec: TableSpec) -> None:
        super().__init__()
        self._spec = spec

    def compose(self) -> ComposeResult:
        """Title, table, details, keys."""
        with Vertical(classes="page"):
            yield Static(Text(self._spec.title, "bold"), classes="title")
            table: DataTable[Text] = DataTable(cursor_type="row", zebra_stripes=True)
            yield table
            yield Static(id="detail", markup=False)
            yield Static(Text(self._spec.foot, "dim"), classes="foot")

    def on_mount(self) -> None:
        """Fill the table."""
        table: DataTable[Text] = self.query_one(DataTable)
        table.add_columns(*self._spec.columns)
        for row in self._spec.rows:
            table.add_row(*(Text(cell) for cell in row))
        if self._spec.rows:
            table.move_cursor(row=self._spec.start)
        self.query_one("#detail").display = bool(self._spec.details)
        table.focus()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the details of the row under the cursor."""
        if event.cursor_row < len(self._spec.details):
            self.query_one("#detail", Static).update(Text(self._spec.details[event.cursor_row]))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Choose the row."""
        if self._spec.rows:
            self.dismiss((event.cursor_row, "enter"))

    def on_key(self, event: events.Key) -> None:
        """Choose the row in another way."""
        if event.key in self._spec.keys and self._spec.rows:
            event.stop()
            self.dismiss((self.query_one(DataTable).cursor_row, event.key))

    def action_down(self) -> None:
        """Move down."""
        self.query_one(DataTable).action_cursor_down()

    def action_up(self) -> None:
        """Move up."""
        self.query_one(DataTable).action_cursor_up()

    def action_leave(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
