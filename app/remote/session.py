"""A session of a running dashboard, over HTTP: the same verbs and views as in this process.

A thread listens for what others change in the session and for the server's death; when a server is
there again, the session is resumed and its view brought back. Knows no screen.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.commands import CommandError, find_command, parse_arguments
from app.remote.link import Link, Refused
from app.remote.listing import GONE, list_sessions
from app.remote.views import RemoteViews, decoded, part
from app.session.cursor import Cursor
from app.session.jobs import JobState
from app.session.protocol import SessionLost

LISTEN_SECONDS = 0.2
"""time between two questions whether something changed"""
RETRY_SECONDS = 1.0
"""time between two attempts to reach a server that does not answer"""


@dataclass(frozen=True, slots=True)
class News:
    """How a session stands, in a few bytes."""

    born: int | None
    """changes when the session's debugger was replaced; None: the server freed it"""
    revision: int
    faces: int
    is_fresh: bool
    """True while nothing was opened in it: it holds what the server was started with"""
    cursor: Cursor | None
    job: JobState | None
    opening: JobState | None
    """another model being opened in the session by a page, None before the first"""


class RemoteSession(RemoteViews):
    """One session of a server. Fulfils `app.session.protocol.Session`; safe from any thread."""

    def __init__(self, link: Link, session: str) -> None:
        """Attach to a session by its id.

        Raises:
            SessionLost: the server does not answer or refuses.
        """
        self._link = link
        self._session = session
        self._face = secrets.token_hex(6)
        self._lock = threading.RLock()
        self._news = News(None, -1, 0, False, None, None, None)
        self._trouble = ""
        self._stop = threading.Event()
        self.view_status()
        self._hear()
        self._listener = threading.Thread(
            target=self._listen, name="waferscope-remote", daemon=True
        )
        self._listener.start()

    def close(self) -> None:
        """Stop listening and close the link; the session stays with its server."""
        self._stop.set()
        self._listener.join(5)
        self._link.close()

    @property
    def id(self) -> str:
        """the session's id on its server"""
        return self._session

    @property
    def cursor(self) -> Cursor:
        """where the session is, as last heard"""
        if self._news.cursor is None:
            raise SessionLost("the server has not said yet where the session is")
        return self._news.cursor

    @property
    def job(self) -> JobState | None:
        """the newest background job, as last heard; another model being opened goes first"""
        opening = self._news.opening
        return opening if opening is not None and opening.is_running else self._news.job

    @property
    def revision(self) -> Hashable:
        """differs whenever something that a view shows changed, whoever changed it"""
        news = self._news
        return self._session, news.born, news.revision

    @property
    def trouble(self) -> str:
        """why the server cannot be reached just now, empty when it can"""
        return self._trouble

    # -- verbs -----------------------------------------------------------------------------------

    def do(self, command_id: str, *arguments: object) -> str:
        """Run a command of the table on the server; an export is written on this machine.

        Raises:
            CommandError: the command failed or does not exist.
            SessionLost: the server does not answer.
        """
        values = parse_arguments(find_command(command_id), arguments)
        if command_id == "export":
            return self._export(Path(str(values[0])))
        return self._post("do", {"command": command_id, "args": list(map(_plain, arguments))})

    def _post(self, what: str, body: object) -> str:
        plain = self._link.post(f"{what}/{self._session}", body)
        news = decoded(News, part(plain, "news"))
        self._follow(news)
        if error := part(plain, "error"):
            raise CommandError(str(error))
        return str(part(part(plain, "status"), "message"))

    def _export(self, path: Path) -> str:
        from app.export.write import write_bytes

        ending = path.suffix.lstrip(".").lower() or "none"
        try:
            data = self._link.get_bytes(f"export/{self._session}/{ending}")
        except Refused as refusal:
            raise CommandError(str(refusal)) from None
        write_bytes(path, data)
        return f"wrote {path}"

    # -- listening -------------------------------------------------------------------------------

    def _listen(self) -> None:
        pause = LISTEN_SECONDS
        while not self._stop.wait(pause):
            try:
                self._hear()
            except (SessionLost, CommandError) as lost:
                self._trouble, pause = f"{lost}; trying again (q leaves)", RETRY_SECONDS
            else:
                self._trouble, pause = "", LISTEN_SECONDS

    def _hear(self) -> None:
        try:
            news = decoded(News, self._link.get(f"news/{self._session}", face=self._face))
        except Refused as refusal:
            if refusal.status != GONE:
                raise
            self._resume()
            return
        if news.born is not None:
            self._follow(news)

    def _follow(self, news: News) -> None:
        """Take in how the session stands; one that the server made anew gets its view back."""
        with self._lock:
            before = self._news
            if news.born == before.born and news.revision < before.revision:
                return
            self._news = news
            if news.is_fresh and before.born not in (None, news.born) and before.cursor:
                self._restore(before.cursor)

    def _resume(self) -> None:
        """Go on with a server that was started anew, in the session of the same name."""
        listing = list_sessions(self._link)
        with self._lock:
            session = f"{listing.epoch}-{self._session.partition('-')[2]}"
            shown = self._news.cursor
            self._session, self._news = session, News(None, -1, 0, False, None, None, None)
            is_there = any(one.id == session for one in listing.sessions)
            self.view_status()
            self._hear()
            if shown is not None and not is_there:
                self._restore(shown)

    def _restore(self, wanted: Cursor) -> None:
        """Bring a view back, as far as the run there has it."""
        for command, arguments in way_back(wanted):
            with suppress(CommandError):
                self.do(command, *arguments)
        box = wanted.viewport
        self._post("viewport", {"box": [box.row, box.col, box.rows, box.cols]})


def way_back(wanted: Cursor) -> list[tuple[str, tuple[str | int, ...]]]:
    """Return the commands that lead to a cursor from any other, but for the viewport.

    None of them turns something over: a page of the same session may bring the view back too.
    """
    chosen = wanted.selection
    commands: list[tuple[str, tuple[str | int, ...]]] = [
        ("metric", (wanted.metric,)), ("stride", (wanted.stride,)), ("sample", (wanted.sample,)),
        ("seek", (wanted.step,)), ("log", ("on" if wanted.log else "off",)),
    ]  # fmt: skip
    if chosen.pe is not None:
        commands.append(("pe", chosen.pe))
    elif chosen.kind == "kernel" and chosen.kernel:
        commands.append(("kernel", (chosen.kernel,)))
    elif chosen.region is not None:
        box = chosen.region
        commands.append(("region", (box.row, box.col, box.rows, box.cols)))
    return commands


def _plain(argument: object) -> str | int | float:
    """Return an argument as JSON knows it."""
    return argument if isinstance(argument, (str, int, float)) else str(argument)
