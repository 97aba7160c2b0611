"""Pages about the whole program: what is chosen there becomes commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.tui.debug_desk import Host, Table
from app.tui.pages import TextPage
from app.tui.pages import survey_specs as specs
from app.views.memory import MemoryView
from app.views.roofline import RooflineView

FACES = {"memory": "memory", "roofline": "roofline"}
"""command of the screen -> page"""


class SurveyDesk:
    """Opens the pages of FACES."""

    def __init__(self, host: Host, table: Table) -> None:
        self._host, self._table = host, table

    def pages(self) -> dict[str, Callable[[Any], None]]:
        """Return page -> what shows its view."""
        return {"memory": self._memory, "roofline": self._roofline}

    def _go(self, kernel: str) -> None:
        self._host.command("kernel", kernel)
        self._host.command("focus")

    def _memory(self, view: MemoryView) -> None:
        def act(row: int, key: str) -> None:
            if key == "enter":
                self._go(view.rows[row].kernel)
            else:
                self._host.push_screen(TextPage("Memory", specs.memory_text(view)))

        self._table(specs.memory_spec(view), act)

    def _roofline(self, view: RooflineView) -> None:
        self._table(specs.roofline_spec(view), lambda row, key: self._go(view.points[row].kernel))
