"""The views of a session that look at the whole program: memory, roofline, model graph.

Each asks a pure function. Knows no screen.
"""

from __future__ import annotations

from collections.abc import Callable

from app.session import debugging
from app.session.debugging import DebugVerbs
from app.views.base import View
from app.views.build_memory import view_memory
from app.views.build_roofline import view_roofline
from app.views.memory import MemoryView
from app.views.roofline import RooflineView

PAGES = (*debugging.PAGES, "memory", "roofline")
"""names of the views that `view_page` gives"""


class SurveyVerbs(DebugVerbs):
    """Adds memory in program order and the roofline."""

    def view_memory(self, scope: str = "selection") -> MemoryView:
        """Return SRAM in program order: of the selected PEs, or of the whole 'wafer'."""
        with self._lock:
            run, kernel = self.run, self._cursor.selection.kernel
        return view_memory(run, None if scope == "wafer" else kernel)

    def view_roofline(self) -> RooflineView:
        """Return all kernels under the roofs of the machine."""
        with self._lock:
            run, kernel = self.run, self._cursor.selection.kernel
        return view_roofline(run, kernel)

    def view_page(self, name: str) -> View:
        """Return one of PAGES by name."""
        makers: dict[str, Callable[[], View]] = {
            "memory": self.view_memory, "roofline": self.view_roofline,
        }  # fmt: skip
        return makers[name]() if name in makers else super().view_page(name)
