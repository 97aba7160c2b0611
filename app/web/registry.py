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
from dataclasses import dataclass
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

    def born(self, session: str) -> int:
        """Return a number that changes when a tab's debugger was replaced by another."""
        with self._lock:
            return self._find(session).born

    def replace(self, session: str, debugger: Debugger) -> None:
        """Give a tab another debugger, such as one on another model."""
        with self._lock:
            found = self._find(session)
            found.debugger.cancel()
            self._born += 1
            found.debugger, found.born = debugger, self._born

    def close(self) -> None:
        """Stop what works in the background and forget all sessions."""
        with self._lock:
            for found in self._sessions.values():
                found.debugger.cancel()
            self._sessions.clear()

    def __len__(self) -> int:
        return len(self._sessions)

    def _find(self, session: str) -> _Session:
        if not self._pattern.fullmatch(session):
            raise SessionError(
                "this page belongs to a server that has ended; reload it to go on with the new one"
            )
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
