"""What the terminal needs of a debugger. Knows no widgets; `app.debugger.Debugger` fulfils it."""

from __future__ import annotations

from typing import Protocol

from app.session.cursor import Cursor
from app.session.jobs import JobState
from app.views.base import View
from app.views.compare import CompareView, DifferenceView
from app.views.idle import IdleView
from app.views.kernel import KernelView
from app.views.knobs import KnobsView
from app.views.map import MapView
from app.views.pe import PEView
from app.views.report import ReportView
from app.views.status import StatusView
from app.views.streaming import StreamingView
from app.views.timeline import TimelineView
from app.views.values import ValuesView


class Session(Protocol):
    """One debugging session: verbs by name, views on demand, safe from any thread."""

    @property
    def cursor(self) -> Cursor:
        """where the user is"""

    @property
    def job(self) -> JobState | None:
        """the newest background job, None before the first"""

    def do(self, command_id: str, *arguments: object) -> str:
        """Run a command of the table; returns the answer."""

    def cancel(self) -> bool:
        """Stop the background job."""

    def view_map(self, height: int, width: int) -> MapView:
        """Return the map pooled to at most height x width pixels."""

    def view_status(self) -> StatusView:
        """Return the status line."""

    def view_timeline(
        self, bins: int = 400, start: int = 0, end: int | None = None
    ) -> TimelineView:
        """Return series and bars."""

    def view_pe(self, row: int | None = None, col: int | None = None) -> PEView | None:
        """Return the selected PE."""

    def view_kernel(self, name: str | None = None) -> KernelView | None:
        """Return the selected kernel."""

    def view_report(self) -> ReportView:
        """Return the compile report."""

    def view_knobs(self) -> KnobsView:
        """Return every knob."""

    def view_values(self) -> ValuesView:
        """Return the values of the run."""

    def view_streaming(self) -> StreamingView | None:
        """Return whose turn it is in a streaming run, None for a pipeline."""

    def view_compare(self) -> CompareView | None:
        """Return the run on screen against the other, None when nothing is compared."""

    def view_difference(
        self, height: int, width: int, what: str = "run", metric: str | None = None
    ) -> DifferenceView | None:
        """Return the map of what differs, None when nothing is compared."""

    def view_page(self, name: str) -> View:
        """Return one of `app.session.surveying.PAGES` by name."""

    def find_idle(self, scope: str = "run") -> IdleView:
        """Return the largest idle regions."""
