"""The runs that a tab has had: shown, reopened, deleted. Knows no requests and no pages.

Each is kept whole in memory, with its cursor and what can be undone, so that it is back at once
and no file has to stay on disk for it. Bounded; the oldest leave first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.debugger import Debugger

MOST_RUNS = 8
"""runs of a tab that are kept, the shown one among them"""


class ShelfError(LookupError):
    """A run that a tab does not have, or may not lose; the message is for its page."""


@dataclass(frozen=True, slots=True, eq=False)
class ShelvedRun:
    """A run of a tab."""

    number: int
    """names it within its tab"""
    debugger: Debugger
    opened: float
    """time when it was opened or reopened, seconds of the registry's clock"""


class Shelf:
    """The runs of one tab; the newest is the one shown. Guarded by the registry's lock."""

    def __init__(self, debugger: Debugger, now: float, most: int = MOST_RUNS) -> None:
        self._runs: dict[int, ShelvedRun] = {}
        self._most, self._number = most, 0
        self.put(debugger, now)

    @property
    def shown(self) -> Debugger:
        """the debugger of the run that is shown"""
        return self._runs[next(reversed(self._runs))].debugger

    def put(self, debugger: Debugger, now: float) -> None:
        """Show another run; the oldest leaves when there are too many."""
        self._number += 1
        self._runs[self._number] = ShelvedRun(self._number, debugger, now)
        while len(self._runs) > self._most:
            del self._runs[next(iter(self._runs))]

    def take(self, number: int, now: float) -> None:
        """Show a run of before again.

        Raises:
            ShelfError: it is not here (any more).
        """
        found = self._find(number)
        del self._runs[number]
        self._runs[number] = ShelvedRun(number, found.debugger, now)

    def delete(self, number: int) -> None:
        """Forget a run.

        Raises:
            ShelfError: it is not here, or it is the one shown.
        """
        if self._find(number).debugger is self.shown:
            raise ShelfError("the run that is shown cannot be deleted; open another one first")
        del self._runs[number]

    def runs(self) -> tuple[ShelvedRun, ...]:
        """Return all, the one shown first, then the one shown last."""
        return tuple(reversed(self._runs.values()))

    def _find(self, number: int) -> ShelvedRun:
        found = self._runs.get(number)
        if found is None:
            raise ShelfError(
                "this run is not on the list any more: it was deleted, or left for newer ones; "
                "open its file again"
            )
        return found
