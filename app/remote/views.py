"""The views of a session on a server, each fetched by the name of its method. Knows no state."""

from __future__ import annotations

from typing import Any, TypeVar

from app.commands import CommandError
from app.remote.link import Link, Refused
from app.remote.listing import WRONG
from app.remote.wire import WireError, decode
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

T = TypeVar("T")


def decoded(kind: type[T], plain: Any) -> T:
    """Return what a server's answer stands for.

    Raises:
        SessionLost: it is nothing of that type.
    """
    try:
        found: T = decode(kind, plain)
    except WireError as error:
        raise Refused(f"the server's answer cannot be read: {error}", 0) from None
    return found


def part(plain: Any, name: str) -> Any:
    """Return a part of a server's answer.

    Raises:
        SessionLost: it has none of that name.
    """
    if not isinstance(plain, dict) or name not in plain:
        raise Refused(f"the server's answer cannot be read: it has no '{name}'", 0)
    return plain[name]


class RemoteViews:
    """Fetches views. Every method raises CommandError for what cannot be shown, SessionLost when
    the server does not answer or refuses."""

    _link: Link
    _session: str

    def _fetch_maybe(self, kind: type[T], view: str, /, **arguments: object) -> T | None:
        try:
            plain = self._link.get(f"read/{self._session}/{view}", **arguments)
        except Refused as refusal:
            if refusal.status == WRONG:
                raise CommandError(str(refusal)) from None
            raise
        result = part(plain, "result")
        return None if result is None else decoded(kind, result)

    def _fetch(self, kind: type[T], view: str, /, **arguments: object) -> T:
        found = self._fetch_maybe(kind, view, **arguments)
        if found is None:
            raise Refused(f"the server's answer cannot be read: '{view}' is empty", 0)
        return found

    def view_map(self, height: int, width: int) -> MapView:
        """Return the map pooled to at most height x width pixels."""
        return self._fetch(MapView, "view_map", height=height, width=width)

    def view_status(self) -> StatusView:
        """Return the status line."""
        return self._fetch(StatusView, "view_status")

    def view_timeline(
        self, bins: int = 400, start: int = 0, end: int | None = None
    ) -> TimelineView:
        """Return series and bars."""
        return self._fetch(TimelineView, "view_timeline", bins=bins, start=start, end=end)

    def view_pe(self, row: int | None = None, col: int | None = None) -> PEView | None:
        """Return a PE, the selected one by default."""
        return self._fetch_maybe(PEView, "view_pe", row=row, col=col)

    def view_kernel(self, name: str | None = None) -> KernelView | None:
        """Return a kernel, the selected one by default."""
        return self._fetch_maybe(KernelView, "view_kernel", name=name)

    def view_report(self) -> ReportView:
        """Return the compile report."""
        return self._fetch(ReportView, "view_report")

    def view_knobs(self) -> KnobsView:
        """Return every knob."""
        return self._fetch(KnobsView, "view_knobs")

    def view_values(self) -> ValuesView:
        """Return the values of the run."""
        return self._fetch(ValuesView, "view_values")

    def view_streaming(self) -> StreamingView | None:
        """Return whose turn it is in a streaming run, None for a pipeline."""
        return self._fetch_maybe(StreamingView, "view_streaming")

    def view_compare(self) -> CompareView | None:
        """Return the run on screen against the other, None when nothing is compared."""
        return self._fetch_maybe(CompareView, "view_compare")

    def view_difference(
        self, height: int, width: int, what: str = "run", metric: str | None = None
    ) -> DifferenceView | None:
        """Return the map of what differs, None when nothing is compared."""
        return self._fetch_maybe(
            DifferenceView, "view_difference", height=height, width=width, what=what, metric=metric
        )

    def view_breaks(self) -> BreaksView:
        """Return all breakpoints."""
        return self._fetch(BreaksView, "view_breaks")

    def view_explain(self, target: str | None = None) -> ExplainView:
        """Return the explanation of a target, the selection by default."""
        return self._fetch(ExplainView, "view_explain", target=target)

    def view_advice(self) -> AdviceView:
        """Return what the rules say."""
        return self._fetch(AdviceView, "view_advice")

    def view_bottleneck(self) -> BottleneckView:
        """Return what the makespan is made of."""
        return self._fetch(BottleneckView, "view_bottleneck")

    def find_hot(self, scope: str = "run") -> HotView:
        """Return the hottest links and ramps."""
        return self._fetch(HotView, "find_hot", scope=scope)

    def find_idle(self, scope: str = "run") -> IdleView:
        """Return the largest idle regions."""
        return self._fetch(IdleView, "find_idle", scope=scope)

    def view_memory(self, scope: str = "selection") -> MemoryView:
        """Return SRAM in program order: of the selected PEs, or of the whole 'wafer'."""
        return self._fetch(MemoryView, "view_memory", scope=scope)

    def view_activations(self) -> ActivationsView:
        """Return how long each activation lives, and what it costs."""
        return self._fetch(ActivationsView, "view_activations")

    def view_roofline(self) -> RooflineView:
        """Return all kernels under the roofs of the machine."""
        return self._fetch(RooflineView, "view_roofline")

    def view_graph(self) -> GraphView:
        """Return the model's nodes, those of closed scopes put together."""
        return self._fetch(GraphView, "view_graph")
