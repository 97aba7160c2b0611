"""A tab of a browser: its runs, who follows it, what is opened in it. Knows no requests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.session.jobs import Jobs
from app.web.shelf import Shelf

if TYPE_CHECKING:
    from app.debugger import Debugger
    from app.views.refusal import RefusalView


class OpeningError(ValueError):
    """A file that could not be opened in a tab; the message is for its page."""


@dataclass(slots=True)
class Tab:
    """A tab and its runs. Guarded by the registry's lock."""

    shelf: Shelf
    born: int
    """number that no other session of this server has"""
    used: float
    """time of the newest request, seconds of the registry's clock"""
    is_fresh: bool = True
    """False once another model was opened in it"""
    faces: dict[str, float] = field(default_factory=dict)
    """time of the newest look of each page or terminal that follows it"""
    opening: Jobs = field(default_factory=lambda: Jobs((OpeningError,)))
    """worker that opens another model in it"""
    refusal: RefusalView | None = None
    """why the newest file that failed could not be opened"""

    @property
    def debugger(self) -> Debugger:
        """the debugger of the run that is shown"""
        return self.shelf.shown

    @property
    def is_working(self) -> bool:
        """True while something is computed or opened for it"""
        states = (self.debugger.job, self.opening.state)
        return any(state is not None and state.is_running for state in states)

    def stop(self) -> None:
        """Cancel what works for it."""
        self.debugger.cancel()
        self.opening.cancel()
