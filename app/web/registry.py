"""Which tab talks to which debugger. Knows no pages and no protocol."""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.debugger import Debugger

MOST_SESSIONS = 16
"""tabs remembered; the one unused longest is dropped for a new one"""


class SessionError(LookupError):
    """A tab that this server does not know."""


class Registry:
    """The sessions of one server. The first tab gets the debugger handed in, others share its run.

    A session id is `<epoch>-<tab>`; the epoch is new in every server, so that a page or a cached
    frame of an earlier one is never mistaken for ours.
    """

    def __init__(self, debugger: Debugger, most: int = MOST_SESSIONS) -> None:
        self.epoch = secrets.token_hex(8)
        self._first = debugger
        self._most = most
        self._sessions: OrderedDict[str, Debugger] = OrderedDict()
        self._pattern = re.compile(rf"{self.epoch}-[0-9a-z]{{8,40}}")
        self._lock = threading.Lock()

    def get(self, session: str) -> Debugger:
        """Return the debugger of a tab, made at its first request.

        Raises:
            SessionError: the id is not of this server.
        """
        if not self._pattern.fullmatch(session):
            raise SessionError(
                "this page belongs to a server that has ended; reload it to go on with the new one"
            )
        with self._lock:
            if session not in self._sessions:
                self._sessions[session] = self._make()
            self._sessions.move_to_end(session)
            while len(self._sessions) > self._most:
                self._sessions.popitem(last=False)
            return self._sessions[session]

    def __len__(self) -> int:
        return len(self._sessions)

    def _make(self) -> Debugger:
        if self._first not in self._sessions.values():
            return self._first
        return type(self._first)(self._first.run)
