"""The views of a session that look at the whole program: memory, activations,
roofline, model graph.

Each asks a pure function. Knows no screen.
"""

from __future__ import annotations

from collections.abc import Callable

from app.commands import CommandError
from app.nearest import hint
from app.session import debugging
from app.session.debugging import DebugVerbs
from app.views.activations import ActivationsView
from app.views.base import View
from app.views.build_activations import view_activations
from app.views.build_graph import (
    MOST_BOXES,
    scopes_around,
    scopes_of,
    seen_boxes,
    view_graph,
)
from app.views.build_memory import view_memory
from app.views.build_roofline import view_roofline
from app.views.graph import GraphView
from app.views.memory import MemoryView
from app.views.roofline import RooflineView

PAGES = (*debugging.PAGES, "memory", "activations", "roofline", "graph")
"""names of the views that `view_page` gives"""


class SurveyVerbs(DebugVerbs):
    """Adds memory in program order, the roofline and the model graph with its open scopes."""

    _opened: frozenset[str] = frozenset()

    def view_memory(self, scope: str = "selection") -> MemoryView:
        """Return SRAM in program order: of the selected PEs, or of the whole 'wafer'."""
        with self._lock:
            run, kernel = self.run, self._cursor.selection.kernel
        return view_memory(run, None if scope == "wafer" else kernel)

    def view_activations(self) -> ActivationsView:
        """Return how long each activation lives where kernels take turns, and what it costs."""
        with self._lock:
            run = self.run
        return view_activations(run, self._cache)

    def view_roofline(self) -> RooflineView:
        """Return all kernels under the roofs of the machine."""
        with self._lock:
            run, kernel = self.run, self._cursor.selection.kernel
        return view_roofline(run, kernel)

    def view_graph(self) -> GraphView:
        """Return the model's nodes, those of closed scopes put together in one box."""
        with self._lock:
            run, kernel, opened = self.run, self._cursor.selection.kernel, self._opened
        return view_graph(run, opened, kernel)

    def fold(self, scope: str = "") -> None:
        """Open a closed scope of the graph, or close an open one; nothing: close all.

        Raises:
            CommandError: there is no such scope, or more boxes than can be looked at.
        """
        with self._lock:
            if not scope:
                self._opened = frozenset()
                return self._say("all scopes are closed")
            known = scopes_of(self.run)
            if scope not in known:
                raise CommandError(f"there is no scope '{scope}'{hint(scope, known)}")
            if scope in self._opened:
                self._opened -= {scope}
                return self._say(f"{scope} is closed")
            self._open({scope})
            return self._say(f"{scope} is open")

    def reveal(self) -> None:
        """Open the scopes of the graph that hold the selected kernel.

        Raises:
            CommandError: no kernel is selected, or more boxes than can be looked at.
        """
        with self._lock:
            kernel = self._cursor.selection.kernel
            if kernel is None:
                raise CommandError("no kernel is selected; click one on the map or search for it")
            self._open(set(scopes_around(self.run, kernel)))
            self._say(f"the nodes of {kernel} are shown")

    def _open(self, scopes: set[str]) -> None:
        opened = self._opened | scopes
        seen = seen_boxes(self.run, opened)
        if seen > MOST_BOXES:
            raise CommandError(
                f"that would show {seen:,} boxes, at most {MOST_BOXES:,} can be looked at; close "
                "other scopes first ('fold' alone closes all)"
            )
        self._opened = opened

    def view_page(self, name: str) -> View:
        """Return one of PAGES by name."""
        makers: dict[str, Callable[[], View]] = {
            "memory": self.view_memory, "activations": self.view_activations,
            "roofline": self.view_roofline, "graph": self.view_graph,
        }  # fmt: skip
        return makers[name]() if name in makers else super().view_page(name)
