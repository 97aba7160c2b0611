"""The runs of a session in the order they were made: undo, redo and what the last knob did."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.comparison.delta import view_delta
from app.runs.run import Run
from app.views.status import DeltaView

KEPT = 8
"""runs that can be undone; older ones are forgotten to bound memory"""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A knob turned and the run it gave."""

    what: str
    """such as 'samples = 8'"""
    run: Run


class History:
    """A list of runs with a place in it."""

    def __init__(self, run: Run) -> None:
        self._changes = [Change("", run)]
        self._place = 0
        self._delta: DeltaView | None = None

    @property
    def run(self) -> Run:
        """the run on screen"""
        return self._changes[self._place].run

    @property
    def delta(self) -> DeltaView | None:
        """what the last change did, None before any"""
        return self._delta

    @property
    def before(self) -> Run | None:
        """the run before the last change, None before any"""
        return self._changes[self._place - 1].run if self.can_undo else None

    @property
    def can_undo(self) -> bool:
        """True when an older run is kept"""
        return self._place > 0

    @property
    def can_redo(self) -> bool:
        """True after an undo"""
        return self._place + 1 < len(self._changes)

    @property
    def changes(self) -> tuple[str, ...]:
        """the changes that led here, oldest first"""
        return tuple(change.what for change in self._changes[1 : self._place + 1])

    def place_of(self, run: Run) -> int | None:
        """Return how many of `changes` an older run had; None where it is none of theirs, or where
        the first changes are forgotten."""
        if self._changes[0].what:
            return None
        older = [change.run.id for change in self._changes[: self._place]]
        return older.index(run.id) if run.id in older else None

    def push(self, change: Change) -> None:
        """Add a run after the one on screen; what was undone is forgotten."""
        before = self.run
        self._changes = [*self._changes[: self._place + 1], change][-KEPT:]
        self._place = len(self._changes) - 1
        self._delta = view_delta(before, change.run, change.what)

    def forget(self) -> int:
        """Forget all runs but the one on screen and the one before; returns how many."""
        first = max(0, self._place - 1)
        kept = self._changes[first : self._place + 1]
        gone = len(self._changes) - len(kept)
        self._changes, self._place = kept, self._place - first
        return gone

    def swap(self, run: Run) -> None:
        """Put a run in the place of the one with the same id; nothing when that is forgotten."""
        self._changes = [
            replace(change, run=run) if change.run.id == run.id else change
            for change in self._changes
        ]

    def undo(self) -> str | None:
        """Go back one run; returns a sentence, None when there is none."""
        if not self.can_undo:
            return None
        before, what = self.run, self._changes[self._place].what
        self._place -= 1
        self._delta = view_delta(before, self.run, f"undo of {what}")
        return f"undone: {what}"

    def redo(self) -> str | None:
        """Go forward one run; returns a sentence, None when there is none."""
        if not self.can_redo:
            return None
        before = self.run
        self._place += 1
        what = self._changes[self._place].what
        self._delta = view_delta(before, self.run, what)
        return f"done again: {what}"
