"""Progress and cancelling, passed to everything that may last longer than a blink.

Knows no screen: a report is a frozen value given to whoever asked for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

REPORT_SECONDS = 0.05
"""shortest time between two reports of one stage"""


class Cancelled(Exception):
    """The work was asked to stop; nothing is half done that anyone keeps."""


@dataclass(frozen=True, slots=True)
class ProgressState:
    """How far a piece of work is."""

    stage: str
    """what is being done, such as 'placement'"""
    done: int
    """units done"""
    total: int
    """units in all, 0 when unknown"""
    unit: str
    """what is counted, such as 'kernels'"""

    @property
    def fraction(self) -> float:
        """share done, 0..1; 0 when the total is unknown"""
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0


class Progress:
    """Reports stages and raises `Cancelled` at the next check once asked to stop.

    One thread advances it; `cancelled` may be set from any.
    """

    __slots__ = ("_cancelled", "_last", "_report", "state")

    def __init__(
        self,
        report: Callable[[ProgressState], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._report = report
        self._cancelled = cancelled
        self._last = 0.0
        self.state = ProgressState("", 0, 0, "")

    def stage(self, name: str, total: int = 0, unit: str = "") -> None:
        """Start the stage `name` of `total` units (0 = unknown)."""
        self.check()
        self.state = ProgressState(name, 0, total, unit)
        self._send(force=True)

    def advance(self, done: int) -> None:
        """Say that `done` units of the stage are done in all, and check."""
        self.check()
        state = self.state
        self.state = ProgressState(state.stage, done, state.total, state.unit)
        self._send(force=0 < state.total <= done)

    def check(self) -> None:
        """Raise `Cancelled` when the work was asked to stop."""
        if self._cancelled():
            raise Cancelled(f"stopped during {self.state.stage or 'start'}")

    def _send(self, force: bool) -> None:
        if self._report is None:
            return
        now = time.monotonic()
        if force or now - self._last >= REPORT_SECONDS:
            self._last = now
            self._report(self.state)


NO_PROGRESS = Progress()
"""reports to nobody and is never cancelled; its `state` is meaningless"""
