"""The thread that talks to the debugger, so that the screen never waits for it.

Orders are carried out in the order given; one snapshot follows the last of those that wait.
Answers are frozen values handed to a callback. Knows no widgets.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

from app.commands import CommandError
from app.session.protocol import Session, SessionLost
from app.tui.difference import difference_map
from app.tui.glyphs import Glyphs
from app.tui.picture import fit
from app.views.kernel import KernelView
from app.views.map import MapView
from app.views.pe import PEView
from app.views.status import StatusView
from app.views.streaming import StreamingView
from app.views.timeline import TimelineView
from app.views.turns import of_turn


@dataclass(frozen=True, slots=True)
class Room:
    """How much the screen can show."""

    high: int
    """pixel rows of the map"""
    wide: int
    """cells of the map"""
    bins: int
    """cells of the timeline"""


@dataclass(frozen=True, slots=True)
class Do:
    """Run a command of the table."""

    command: str
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """Fetch what a page shows."""

    page: str
    """knobs | idle | kernels | values | report | compare | breaks | hot | why | advice |
    bottleneck | memory | activations | turn | roofline | graph"""


@dataclass(frozen=True, slots=True)
class Look:
    """Take a new snapshot, nothing else."""


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """Everything that the main screen paints."""

    status: StatusView
    map: MapView
    timeline: TimelineView
    pe: PEView | None
    kernel: KernelView | None
    error: str
    """why the last command was refused, empty when it was not"""
    streaming: StreamingView | None = None
    """whose turn it is, None for a pipeline"""
    revision: Hashable = None
    """the session's before anything here was asked for"""


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The answer to `Ask`."""

    name: str
    view: Any
    """KnobsView, IdleView, ValuesView or ReportView, by name"""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something went wrong that the user did not cause."""

    message: str


Order = Do | Ask | Look
Answer = Snapshot | Page | Fault


class Courier:
    """Carries orders to the session and answers back."""

    def __init__(self, session: Session, glyphs: Glyphs, deliver: Callable[[Answer], None]) -> None:
        """`deliver` is called in the courier's thread."""
        self._session = session
        self._glyphs = glyphs
        self._deliver = deliver
        self._orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self._pending = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="waferscope-tui", daemon=True)
        self._timeline: tuple[tuple[int, int], TimelineView] | None = None
        self.room = Room(2, 2, 10)
        self.differing = False

    @property
    def is_idle(self) -> bool:
        """True when every order was answered"""
        return self._pending == 0

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """End after the order in work."""
        self._orders.put(None)

    def send(self, order: Order) -> None:
        """Queue an order."""
        with self._lock:
            self._pending += 1
        self._orders.put(order)

    def _work(self) -> None:
        while (first := self._orders.get()) is not None:
            orders = [first]
            while not self._orders.empty():
                more = self._orders.get()
                if more is None:
                    return
                orders.append(more)
            try:
                self._carry(orders)
            except SessionLost as lost:
                self._deliver(Fault(str(lost)))
            except Exception as error:
                self._deliver(Fault(f"internal fault: {type(error).__name__}: {error}"))
            finally:
                with self._lock:
                    self._pending -= len(orders)

    def _carry(self, orders: list[Order]) -> None:
        """Carry out the commands, show where they led, then work out the pages asked for."""
        error = ""
        for order in orders:
            if isinstance(order, Do):
                error = self._do(order)
        self._deliver(self._snapshot(error))
        for order in orders:
            if isinstance(order, Ask):
                self._deliver(Page(order.page, self._page(order.page)))

    def _do(self, order: Do) -> str:
        try:
            self._session.do(order.command, *order.arguments)
        except (ValueError, KeyError, OSError) as error:
            return str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        return ""

    def _page(self, name: str) -> object:
        session = self._session
        makers: dict[str, Callable[[], object]] = {
            "knobs": session.view_knobs, "idle": session.find_idle, "values": session.view_values,
            "compare": session.view_compare, "report": session.view_report,
            "kernels": session.view_report, "breaks": session.view_breaks,
            "hot": session.find_hot, "why": session.view_explain, "advice": session.view_advice,
            "bottleneck": session.view_bottleneck, "memory": session.view_memory,
            "activations": session.view_activations, "turn": session.view_streaming,
            "roofline": session.view_roofline, "graph": session.view_graph,
        }  # fmt: skip
        return makers[name]()

    def _snapshot(self, error: str) -> Snapshot:
        session, room = self._session, self.room
        revision = session.revision
        status = session.view_status()
        view = session.cursor.viewport
        plan = fit(view.rows, view.cols, room.high, room.wide, self._glyphs.pixel_height)
        streaming = session.view_streaming()
        shown = of_turn(session.view_map(plan.ask_rows, plan.ask_cols), streaming)
        if self.differing:
            shown, error = self._difference(shown, error)
        return Snapshot(
            status,
            shown,
            self._timeline_at(status, room.bins),
            session.view_pe(),
            session.view_kernel(),
            error,
            streaming,
            revision,
        )

    def _difference(self, shown: MapView, error: str) -> tuple[MapView, str]:
        """Return what differs in the step shown; the other run's step follows by progress."""
        rows, cols = shown.grid
        plan = fit(rows, cols, self.room.high, self.room.wide, self._glyphs.pixel_height)
        try:
            found = self._session.view_difference(plan.ask_rows, plan.ask_cols, "step")
        except CommandError as refusal:
            return shown, error or str(refusal)
        if found is None:
            return shown, error or "nothing is compared: 'compare' (d) chooses the other run"
        return difference_map(found, shown), error

    def _timeline_at(self, status: StatusView, bins: int) -> TimelineView:
        """Return the run's timeline; within a run only the step shown moves."""
        key = status.run_id, bins
        if self._timeline is None or self._timeline[0] != key:
            self._timeline = key, self._session.view_timeline(bins)
        return replace(
            self._timeline[1],
            step=status.step,
            step_start=status.cycle_start,
            step_end=status.cycle_end,
        )
