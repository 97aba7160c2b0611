"""Pages of breakpoints, hot links, explanations, advice: what is chosen there becomes commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from app.tui.pages import TextPage
from app.tui.pages import debug_specs as specs
from app.tui.pages.table import TableSpec
from app.views.advice import AdviceView
from app.views.bottleneck import BottleneckView
from app.views.breaks import BreaksView
from app.views.explain import ExplainView
from app.views.hot import HotView

FACES = {
    "breaks": "breaks", "hot-links": "hot", "why": "why", "advice": "advice",
    "bottleneck": "bottleneck",
}  # fmt: skip
"""command of the screen -> page"""


class Host(Protocol):
    """What these pages need of the application."""

    def command(self, command_id: str, *arguments: object) -> None:
        """Run a command."""

    def push_screen(self, screen: Any, callback: Any = None) -> Any:
        """Show a page and call back with its result."""


Table = Callable[[TableSpec, Callable[[int, str], None]], None]
"""shows a table and calls back with (row, key)"""


class DebugDesk:
    """Opens the pages of FACES."""

    def __init__(self, host: Host, table: Table) -> None:
        self._host, self._table = host, table

    def pages(self) -> dict[str, Callable[[Any], None]]:
        """Return page -> what shows its view."""
        return {
            "breaks": self._breaks, "hot": self._hot, "why": self._why, "advice": self._advice,
            "bottleneck": self._bottleneck,
        }  # fmt: skip

    def _breaks(self, view: BreaksView) -> None:
        def act(row: int, key: str) -> None:
            item = view.rows[row]
            if key == "w":
                if view.stop is not None:
                    page = TextPage("Why the run stopped", specs.stop_text(view.stop))
                    self._host.push_screen(page)
                return
            if key in ("enter", "p"):
                step = item.next_step if key == "enter" else item.last_step
                if step is not None:
                    self._host.command("seek", step)
                return
            switch = "disable" if item.enabled else "enable"
            self._host.command({"d": "delete", "e": switch, "o": "once"}[key], item.id)

        self._table(specs.breaks_spec(view), act)

    def _hot(self, view: HotView) -> None:
        def go(row: int, key: str) -> None:
            self._host.command("goto", f"{view.rows[row].row},{view.rows[row].col}")

        self._table(specs.hot_spec(view), go)

    def _advice(self, view: AdviceView) -> None:
        def act(row: int, key: str) -> None:
            if key != "enter":
                self._host.command({"t": "advise", "o": "optimize"}[key])
            elif (place := view.rows[row].place) is not None:
                self._host.command("region", *place)
                self._host.command("focus")

        self._table(specs.advice_spec(view), act)

    def _why(self, view: ExplainView) -> None:
        title = f"Why: {view.target}, step {view.step}"
        self._host.push_screen(TextPage(title, specs.why_text(view)))

    def _bottleneck(self, view: BottleneckView) -> None:
        self._host.push_screen(TextPage("Bottleneck", specs.bottleneck_text(view)))
