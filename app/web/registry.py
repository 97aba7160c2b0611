"""Which tab talks to which debugger, and which of them are freed. Knows no pages and no protocol.

Sessions share the run that the server was started with, and one store of frames; what each adds
(other runs) is weighed. Over the budget, those unused longest are freed, never one that works or
was just used; then the runs that a tab showed before, and those only kept to be undone to.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.runs.frames import FrameCache
from app.session.jobs import Jobs, JobState
from app.web.shelf import Shelf, ShelfError, ShelvedRun
from app.web.tab import Tab
from app.web.weighing import weigh

if TYPE_CHECKING:
    from app.debugger import Debugger
    from app.views.refusal import RefusalView

MOST_SESSIONS = 64
"""tabs remembered; the one unused longest is dropped for a new one"""
BUDGET_BYTES = 1 << 30
"""arrays that all sessions may hold together, frames apart"""
FRAME_BYTES = 256 << 20
"""frames that all sessions keep together"""
FIELDS_KEPT = 24
"""maps behind the newest frames, 7 MB each on a whole wafer"""
IDLE_SECONDS = 60.0
"""time without a request after which a session may be freed for memory"""
FACE_SECONDS = 5.0
"""time after which a page or terminal that asked nothing is thought to have left"""
_MOST_FACES = 16
"""faces of a session that are counted"""
_WEIGH_SECONDS = 20.0
"""time between two looks at the memory"""


class SessionError(LookupError):
    """A tab that this server does not know."""


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session as others may see it."""

    id: str
    debugger: Debugger
    born: int
    """number that no other session of this server has"""
    is_fresh: bool
    """True while it holds what the server was started with"""
    idle_seconds: float
    """time since its newest request"""
    faces: int
    """pages and terminals that follow it"""
    opening: JobState | None
    """how the newest opening of a file in it stands, None before the first"""


def _in_a_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="waferscope-memory", daemon=True).start()


class Registry:
    """The sessions of one server. The first tab gets the debugger handed in, others share its run.

    A session id is `<epoch>-<tab>`; the epoch is new in every server, so that a page or a cached
    frame of an earlier one is never mistaken for ours.
    """

    def __init__(
        self,
        debugger: Debugger,
        most: int = MOST_SESSIONS,
        budget_bytes: int = BUDGET_BYTES,
        clock: Callable[[], float] = time.monotonic,
        aside: Callable[[Callable[[], None]], None] = _in_a_thread,
    ) -> None:
        """`aside` does work that no request shall wait for."""
        self.epoch = secrets.token_hex(8)
        self._run = debugger.run
        self._kind = type(debugger)
        self._first: Debugger | None = debugger
        self._most, self._budget, self._clock, self._aside = most, budget_bytes, clock, aside
        self._frames = FrameCache(FRAME_BYTES, FIELDS_KEPT)
        self._sessions: OrderedDict[str, Tab] = OrderedDict()
        self._pattern = re.compile(rf"{self.epoch}-[0-9a-z]{{8,40}}")
        self._lock = threading.Lock()
        self._born = 0
        self._weighed = clock()

    def get(self, session: str) -> Debugger:
        """Return the debugger of a tab, made at its first request.

        Raises:
            SessionError: the id is not of this server.
        """
        with self._lock:
            found, is_due = self._find(session).debugger, self._is_due()
        if is_due:
            self._aside(self.free)
        return found

    def replace(self, session: str, debugger: Debugger) -> None:
        """Give a tab another debugger, such as one on another model; it keeps the one before."""
        with self._lock:
            found = self._find(session)
            found.debugger.cancel()
            debugger.share_frames(self._frames)
            found.shelf.put(debugger, found.used)
            self._renew(found)

    @property
    def now(self) -> float:
        """time of this server, seconds"""
        return self._clock()

    def runs(self, session: str) -> tuple[ShelvedRun, ...]:
        """Return the runs of a tab, the shown one first, then the newest."""
        with self._lock:
            return self._find(session).shelf.runs()

    def reopen(self, session: str, number: int) -> None:
        """Show a run that the tab showed before, as it was left; what is being opened is cancelled.

        Raises:
            ShelfError: the tab does not have it.
        """
        with self._lock:
            found = self._find(session)
            before = found.debugger
            found.shelf.take(number, found.used)
            if found.debugger is not before:
                before.cancel()
            found.opening.cancel()
            self._renew(found)

    def delete(self, session: str, number: int) -> None:
        """Forget a run that a tab does not show.

        Raises:
            ShelfError: the tab does not have it, or shows it.
        """
        with self._lock:
            self._find(session).shelf.delete(number)

    def _renew(self, found: Tab) -> None:
        """Have all faces of a session ask for everything again."""
        self._born += 1
        found.born, found.is_fresh = self._born, False

    def sessions(self) -> tuple[SessionFacts, ...]:
        """Return all sessions, the one used last first."""
        with self._lock:
            return tuple(self._facts(name) for name in reversed(self._sessions))

    def look(self, session: str, face: str = "") -> SessionFacts | None:
        """Return a session without using it, None when it was never there or was freed.

        `face` names the page or terminal that looks, so that it is counted.

        Raises:
            SessionError: the id is not of this server.
        """
        with self._lock:
            self._check(session)
            found = self._sessions.get(session)
            if found is None:
                return None
            if face and (face in found.faces or len(found.faces) < _MOST_FACES):
                found.faces[face] = self._clock()
            return self._facts(session)

    def _facts(self, name: str) -> SessionFacts:
        found, now = self._sessions[name], self._clock()
        found.faces = {f: seen for f, seen in found.faces.items() if now - seen < FACE_SECONDS}
        return SessionFacts(
            name, found.debugger, found.born, found.is_fresh, now - found.used,
            len(found.faces), found.opening.state,
        )  # fmt: skip

    def opening(self, session: str) -> Jobs:
        """Return the worker that opens files in a tab."""
        with self._lock:
            return self._find(session).opening

    def refuse(self, session: str, refusal: RefusalView) -> None:
        """Keep why the newest file could not be opened in a tab, as long as there is the tab."""
        with self._lock:
            found = self._sessions.get(session)
            if found is not None:
                found.refusal = refusal

    def refusal(self, session: str) -> RefusalView | None:
        """Return why the newest file that failed could not be opened in a tab, None: none has."""
        with self._lock:
            return self._find(session).refusal

    def close(self) -> None:
        """Stop what works in the background and forget all sessions."""
        with self._lock:
            for found in self._sessions.values():
                found.stop()
            self._sessions.clear()

    def __len__(self) -> int:
        return len(self._sessions)

    def _check(self, session: str) -> None:
        if not self._pattern.fullmatch(session):
            raise SessionError(
                "this page belongs to a server that has ended; reload it to go on with the new one"
            )

    def _find(self, session: str) -> Tab:
        self._check(session)
        now = self._clock()
        found = self._sessions.get(session)
        if found is None:
            self._born += 1
            found = self._sessions[session] = Tab(Shelf(self._make(), now), self._born, now)
            while len(self._sessions) > self._most:
                self._drop(next(iter(self._sessions)))
        found.used = now
        self._sessions.move_to_end(session)
        return found

    def _is_due(self) -> bool:
        """Return True when it is time to look at the memory, once for each time."""
        now = self._clock()
        if now - self._weighed <= _WEIGH_SECONDS:
            return False
        self._weighed = now
        return True

    def free(self) -> None:
        """Free memory over the budget: first what is idle, then runs that no tab shows.

        Weighing takes a while, so nothing waits for it: the lock is held only to drop.
        """
        with self._lock:
            sessions = list(self._sessions.items())
        seen: set[int] = set()
        weigh((self._run, self._frames), seen)
        held = {name: weigh(session.shelf, seen) for name, session in reversed(sessions)}
        over = sum(held.values()) - self._budget
        for name, session in sessions:
            if over > 0 and self._drop_idle(name, session):
                over -= held[name]
        for thin in (self._drop_shelved, self._forget_undone):
            for _, session in sessions:
                if over > 0:
                    before = self._weigh(session)
                    thin(session, before - over)
                    over -= before - self._weigh(session)

    def _weigh(self, session: Tab) -> int:
        """Return the bytes of a session beyond the run that all share."""
        seen: set[int] = set()
        weigh((self._run, self._frames), seen)
        return weigh(session.shelf, seen)

    def _drop_shelved(self, session: Tab, most: int) -> None:
        """Drop runs that a tab does not show, oldest first, until it holds so few bytes."""
        for old in reversed(session.shelf.runs()[1:]):
            if self._weigh(session) <= most:
                return
            if old.debugger.run is not self._run:
                with self._lock, suppress(ShelfError):
                    session.shelf.delete(old.number)

    def _forget_undone(self, session: Tab, most: int) -> None:
        if session.debugger.run is not self._run:
            session.debugger.forget_runs()

    def _drop_idle(self, name: str, session: Tab) -> bool:
        """Drop a session that nobody uses; returns False for any other."""
        with self._lock:
            is_ours = self._sessions.get(name) is session
            is_idle = self._clock() - session.used >= IDLE_SECONDS
            if not is_ours or not is_idle or session.is_working:
                return False
            self._drop(name)
            return True

    def _drop(self, name: str) -> None:
        self._sessions.pop(name).stop()

    def _make(self) -> Debugger:
        first, self._first = self._first, None
        made = self._kind(self._run) if first is None else first
        made.share_frames(self._frames)
        return made
