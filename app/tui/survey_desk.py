"""Pages about the whole program: what is chosen there becomes commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from app.tui.debug_desk import Host, Table
from app.tui.pages import TextPage, turn_specs
from app.tui.pages import survey_specs as specs
from app.views.activations import ActivationsView
from app.views.graph import GraphBox, GraphView
from app.views.memory import MemoryView
from app.views.roofline import RooflineView
from app.views.streaming import NO_TURNS, StreamingView

FACES = {
    "memory": "memory", "activations": "activations", "turn": "turn", "roofline": "roofline",
    "graph": "graph",
}  # fmt: skip
"""command of the screen -> page"""


class AskingHost(Host, Protocol):
    """A host whose pages are opened anew after a change."""

    def ask(self, page: str) -> None:
        """Fetch a page's view and show it."""

    def say(self, text: str, severity: str = "ok") -> None:
        """Show a sentence until the next answer."""


class SurveyDesk:
    """Opens the pages of FACES."""

    def __init__(self, host: AskingHost, table: Table) -> None:
        self._host, self._table = host, table

    def pages(self) -> dict[str, Callable[[Any], None]]:
        """Return page -> what shows its view."""
        return {
            "memory": self._memory, "activations": self._activations, "turn": self._turn,
            "roofline": self._roofline, "graph": self._graph,
        }  # fmt: skip

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

    def _activations(self, view: ActivationsView) -> None:
        def act(row: int, key: str) -> None:
            if key == "enter":
                self._go(view.rows[row].made_by)
            elif key == "s":
                self._host.command("set", "activation_mb", view.budget_mb)
            else:
                self._host.push_screen(TextPage("Activations", turn_specs.alive_text(view)))

        self._table(turn_specs.activations_spec(view), act)

    def _turn(self, view: StreamingView | None) -> None:
        if view is None:
            self._host.say(NO_TURNS, "warn")
            return
        kernels = turn_specs.turn_kernels(view)
        self._table(turn_specs.turn_spec(view), lambda row, key: self._go(kernels[row]))

    def _roofline(self, view: RooflineView) -> None:
        self._table(specs.roofline_spec(view), lambda row, key: self._go(view.points[row].kernel))

    def _graph(self, view: GraphView) -> None:
        def act(row: int, key: str) -> None:
            box = view.boxes[row]
            if key == "enter":
                self._go_to_box(box)
                return
            scope = {"o": box.id if box.is_scope else "", "c": box.scope}.get(key, "")
            if key == "s":
                self._host.command("reveal")
            elif scope:
                self._host.command("fold", scope)
            self._host.ask("graph")

        self._table(specs.graph_spec(view), act)

    def _go_to_box(self, box: GraphBox) -> None:
        if len(box.kernels) == 1:
            self._go(box.kernels[0])
        elif box.place is not None:
            self._host.command("region", *box.place)
            self._host.command("focus")
