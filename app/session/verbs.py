"""The verbs that move the cursor. The Debugger adds runs, knobs, views and files to them.

Each verb asks `app.session.moves` where it leads and keeps the answer; nothing else happens here.
"""

from __future__ import annotations

import threading

from app.runs.run import Run
from app.session import moves, places
from app.session.cursor import Cursor, Move


class CursorVerbs:
    """Keeps a cursor over the run on screen. Safe to call from any thread."""

    def __init__(self, run: Run, cursor: Cursor | None = None) -> None:
        self._lock = threading.RLock()
        begin = moves.start(run)
        self._cursor = begin if cursor is None else moves.restore(run, cursor, begin)
        self._message = moves.greeting(run, self._cursor) if cursor is None else ""
        self._revision = 0

    @property
    def run(self) -> Run:
        """the run on screen"""
        raise NotImplementedError("the debugger says which run is on screen")

    @property
    def cursor(self) -> Cursor:
        """where the user is"""
        return self._cursor

    @property
    def revision(self) -> int:
        """grows whenever something that a view shows changed"""
        return self._revision

    @property
    def trouble(self) -> str:
        """why the session cannot be reached: never, it is in this process"""
        return ""

    @property
    def message(self) -> str:
        """answer to the last verb, empty when there is nothing to say"""
        return self._message

    def _go(self, move: Move) -> Cursor:
        if move.cursor != self._cursor or move.message != self._message:
            self._revision += 1
        self._cursor, self._message = move.cursor, move.message
        return self._cursor

    def _say(self, message: str) -> None:
        self._message = message
        self._revision += 1

    # -- time ----------------------------------------------------------------------------------

    def step(self, n: int = 1) -> Cursor:
        """Move `n` stops of the stride, backwards when negative."""
        with self._lock:
            return self._go(moves.step(self.run, self._cursor, n))

    def step_back(self, n: int = 1) -> Cursor:
        """Move `n` stops of the stride backwards."""
        return self.step(-n)

    def step_events(self, n: int) -> Cursor:
        """Move `n` steps, whatever the stride."""
        with self._lock:
            return self._go(moves.step_events(self.run, self._cursor, n))

    def seek(self, step: int) -> Cursor:
        """Show a step; negative counts from the end."""
        with self._lock:
            return self._go(moves.seek(self.run, self._cursor, step))

    def seek_cycle(self, cycle: int) -> Cursor:
        """Show the step that holds a cycle."""
        with self._lock:
            return self._go(moves.seek_cycle(self.run, self._cursor, cycle))

    def seek_peak(self) -> Cursor:
        """Show the step where the metric is highest."""
        with self._lock:
            return self._go(moves.seek_peak(self.run, self._cursor))

    def set_stride(self, stride: str = "") -> Cursor:
        """Set what a step means (kernel | event | sample); empty: the next of them."""
        with self._lock:
            return self._go(moves.set_stride(self.run, self._cursor, stride))

    def select_sample(self, sample: int) -> Cursor:
        """Choose the sample that the strides by kernel and by layer follow."""
        with self._lock:
            return self._go(moves.select_sample(self.run, self._cursor, sample))

    # -- selection and map -----------------------------------------------------------------------

    def select_pe(self, row: int, col: int) -> Cursor:
        """Select a PE."""
        with self._lock:
            return self._go(places.select_pe(self.run, self._cursor, row, col))

    def select_kernel(self, name: str) -> Cursor:
        """Select a kernel by its id or the beginning of one."""
        with self._lock:
            return self._go(places.select_kernel(self.run, self._cursor, name))

    def select_region(self, row: int, col: int, rows: int, cols: int) -> Cursor:
        """Select a rectangle of PEs."""
        with self._lock:
            return self._go(places.select_region(self.run, self._cursor, row, col, rows, cols))

    def clear(self) -> Cursor:
        """Select nothing."""
        with self._lock:
            return self._go(places.clear(self._cursor))

    def goto(self, place: str) -> Cursor:
        """Go to a step ('12'), a PE ('3,4') or a kernel ('ffn1')."""
        with self._lock:
            return self._go(moves.goto(self.run, self._cursor, place))

    def search(self, text: str) -> Cursor:
        """Select the next kernel whose name or source node holds `text`."""
        with self._lock:
            return self._go(places.search(self.run, self._cursor, text))

    def move(self, rows: int, cols: int) -> Cursor:
        """Move the selected PE; selects the middle of the view when none is."""
        with self._lock:
            return self._go(places.move(self.run, self._cursor, rows, cols))

    def next_hot(self, direction: int = 1) -> Cursor:
        """Select the next (or previous, -1) of the ten hottest places of the metric."""
        with self._lock:
            return self._go(places.next_hot(self.run, self._cursor, direction))

    def set_metric(self, metric: str) -> Cursor:
        """Choose what the map shows."""
        with self._lock:
            return self._go(places.set_metric(self._cursor, metric))

    def set_log(self, scale: str = "") -> Cursor:
        """Colour by log(1 + value) ("on") or by the value ("off"); empty: the other of the two."""
        with self._lock:
            return self._go(places.set_log(self._cursor, scale))

    def set_viewport(self, row: int, col: int, rows: int, cols: int) -> Cursor:
        """Show a rectangle of PEs, moved and cut so that it lies inside the grid."""
        with self._lock:
            return self._go(places.set_viewport(self.run, self._cursor, row, col, rows, cols))

    def zoom(self, factor: float) -> Cursor:
        """Show `factor` times fewer rows and columns around the selected PE or the middle."""
        with self._lock:
            return self._go(places.zoom(self.run, self._cursor, factor))

    def pan(self, rows: int, cols: int) -> Cursor:
        """Move the view south by `rows` and east by `cols` PEs."""
        with self._lock:
            return self._go(places.pan(self.run, self._cursor, rows, cols))

    def fit(self) -> Cursor:
        """Show all PEs."""
        with self._lock:
            return self._go(places.fit(self.run, self._cursor))

    def focus(self) -> Cursor:
        """Zoom to the selection; when that is shown already, show all PEs."""
        with self._lock:
            return self._go(places.focus(self.run, self._cursor))
