"""Which tab talks to which debugger, and which of them are freed. Knows no pages and no protocol.

Sessions share the run that the server was started with; what each adds (other runs, frames) is
weighed. Over the budget, those unused longest are freed, never one that works or was just used.
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.web.weighing import weigh

if TYPE_CHECKING:
    from app.debugger import Debugger

MOST_SESSIONS = 64
"""tabs remembered; the one unused longest is dropped for a new one"""
BUDGET_BYTES = 1 << 30
"""arrays that all sessions may hold together"""
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


@dataclass(slots=True)
class _Session:
    """A tab's debugger. Guarded by the registry's lock."""

    debugger: Debugger
    born: int
    """number that no other session of this server has"""
    used: float
    """time of the newest request, seconds of the registry's clock"""
    is_fresh: bool = True
    """False once another model was opened in it"""
    faces: dict[str, float] = field(default_factory=dict)
    """time of the newest look of each page or terminal that follows it"""


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
    ) -> None:
        self.epoch = secrets.token_hex(8)
        self._run = debugger.run
        self._kind = type(debugger)
        self._first: Debugger | None = debugger
        self._most, self._budget, self._clock = most, budget_bytes, clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
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
            return self._find(session).debugger

    def replace(self, session: str, debugger: Debugger) -> None:
        """Give a tab another debugger, such as one on another model."""
        with self._lock:
            found = self._find(session)
            found.debugger.cancel()
            self._born += 1
            found.debugger, found.born, found.is_fresh = debugger, self._born, False

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
            len(found.faces),
        )  # fmt: skip

    def close(self) -> None:
        """Stop what works in the background and forget all sessions."""
        with self._lock:
            for found in self._sessions.values():
                found.debugger.cancel()
            self._sessions.clear()

    def __len__(self) -> int:
        return len(self._sessions)

    def _check(self, session: str) -> None:
        if not self._pattern.fullmatch(session):
            raise SessionError(
                "this page belongs to a server that has ended; reload it to go on with the new one"
            )

    def _find(self, session: str) -> _Session:
        self._check(session)
        now = self._clock()
        found = self._sessions.get(session)
        if found is None:
            self._born += 1
            found = self._sessions[session] = _Session(self._make(), self._born, now)
            while len(self._sessions) > self._most:
                self._drop(next(iter(self._sessions)))
        found.used = now
        self._sessions.move_to_end(session)
        if now - self._weighed > _WEIGH_SECONDS:
            self._free()
        return found

    def _free(self) -> None:
        self._weighed = now = self._clock()
        seen: set[int] = set()
        weigh(self._run, seen)
        held = {name: weigh(s.debugger, seen) for name, s in reversed(self._sessions.items())}
        total = sum(held.values())
        for name, session in list(self._sessions.items()):
            if total <= self._budget or now - session.used < IDLE_SECONDS:
                break
            job = session.debugger.job
            if job is not None and job.is_running:
                continue
            self._drop(name)
            total -= held[name]

    def _drop(self, name: str) -> None:
        self._sessions.pop(name).debugger.cancel()

    def _make(self) -> Debugger:
        first, self._first = self._first, None
        return self._kind(self._run) if first is None else first
