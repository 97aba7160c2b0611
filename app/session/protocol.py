"""What a screen needs of a debugger. Knows no widgets and no server.

`app.debugger.Debugger` fulfils it in this process, `app.remote.session.RemoteSession` over HTTP.
Which views there are and what they take is read off here, see `app.remote.reads`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from app.session.cursor import Cursor
from app.session.jobs import JobState
from app.views.activations import ActivationsView
from app.views.advice import AdviceView
from app.views.bottleneck import BottleneckView
from app.views.breaks import BreaksView
from app.views.compare import CompareView, DifferenceView
from app.views.explain import ExplainView
from app.views.graph import GraphView
from app.views.hot import HotView
from app.views.idle import IdleView
from app.views.kernel import KernelView
from app.views.knobs import KnobsView
from app.views.map import MapView
from app.views.memory import MemoryView
from app.views.pe import PEView
from app.views.report import ReportView
from app.views.roofline import RooflineView
from app.views.status import StatusView
from app.views.streaming import StreamingView
from app.views.timeline import TimelineView
from app.views.values import ValuesView


class SessionLost(OSError):
    """The session cannot be reached just now; the message says what is wrong and what happens."""


class Session(Protocol):
    """One debugging session: verbs by name, views on demand, safe from any thread."""

    @property
    def cursor(self) -> Cursor:
        """where the user is"""

    @property
    def job(self) -> JobState | None:
        """the newest background job, None before the first"""

    @property
    def revision(self) -> Hashable:
        """differs whenever something that a view shows changed, whoever changed it"""

    @property
    def trouble(self) -> str:
        """why the session cannot be reached just now, empty when it can"""

    def do(self, command_id: str, *arguments: object) -> str:
        """Run a command of the table; returns the answer."""

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

    def view_breaks(self) -> BreaksView:
        """Return all breakpoints."""

    def view_explain(self, target: str | None = None) -> ExplainView:
        """Return the explanation of a target, the selection by default."""

    def view_advice(self) -> AdviceView:
        """Return what the rules say."""

    def view_bottleneck(self) -> BottleneckView:
        """Return what the makespan is made of."""

    def find_hot(self, scope: str = "run") -> HotView:
        """Return the hottest links and ramps."""

    def view_memory(self, scope: str = "selection") -> MemoryView:
        """Return SRAM in program order: of the selected PEs, or of the whole 'wafer'."""

    def view_activations(self) -> ActivationsView:
        """Return how long each activation lives, and what it costs."""

    def view_roofline(self) -> RooflineView:
        """Return all kernels under the roofs of the machine."""

    def view_graph(self) -> GraphView:
        """Return the model's nodes, those of closed scopes put together."""

    def find_idle(self, scope: str = "run") -> IdleView:
        """Return the largest idle regions."""
