"""The worker of a session: one job at a time, the newest wins. Knows no models and no screen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from engine.progress import Cancelled, Progress, ProgressState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobState:
    """How a job stands."""

    id: int
    what: str
    """what was asked for"""
    state: str
    """running | done | failed | cancelled"""
    progress: ProgressState
    message: str = ""
    """error in one sentence when failed"""

    @property
    def is_running(self) -> bool:
        """True until it is done, failed or cancelled"""
        return self.state == "running"


class Jobs:
    """Runs one piece of work at a time in a thread.

    Starting a job cancels the one before; what that still returns is dropped.
    """

    def __init__(self, failures: tuple[type[Exception], ...]) -> None:
        """`failures` are the errors a user can cause; any other is named as internal."""
        self._failures = failures
        self._lock = threading.Lock()
        self._state: JobState | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def state(self) -> JobState | None:
        """how the newest job stands, None before the first"""
        return self._state

    def start(
        self,
        what: str,
        work: Callable[[Progress], T],
        finish: Callable[[T], None],
        fail: Callable[[str], None] = lambda message: None,
    ) -> JobState:
        """Run `work` in the background; `finish` gets its result unless a newer job started."""
        with self._lock:
            self._stop.set()
            before, stop = self._thread, threading.Event()
            number = self._state.id + 1 if self._state else 1
            state = JobState(number, what, "running", ProgressState("waiting", 0, 0, ""))
            self._state, self._stop = state, stop
            thread = threading.Thread(
                target=self._work,
                args=(number, before, stop, work, finish, fail),
                name=f"waferscope-job-{number}",
                daemon=True,
            )
            self._thread = thread
        thread.start()
        return state

    def cancel(self) -> bool:
        """Ask the running job to stop; False when none runs."""
        with self._lock:
            running = self._state is not None and self._state.is_running
            self._stop.set()
            return running

    def wait(self, timeout: float | None = None) -> JobState | None:
        """Wait until the newest job has ended (or `timeout` seconds) and return its state."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return self._state

    def _work(
        self,
        number: int,
        before: threading.Thread | None,
        stop: threading.Event,
        work: Callable[[Progress], T],
        finish: Callable[[T], None],
        fail: Callable[[str], None],
    ) -> None:
        if before is not None:
            before.join()
        progress = Progress(lambda state: self._report(number, state), stop.is_set)
        try:
            progress.check()
            result = work(progress)
            progress.check()
            finish(result)
        except Cancelled:
            self._end(number, "cancelled", "")
        except self._failures as error:
            fail(str(error))
            self._end(number, "failed", str(error))
        except Exception as error:
            message = f"internal fault: {type(error).__name__}: {error}; the run before is kept"
            fail(message)
            self._end(number, "failed", message)
        else:
            self._end(number, "done", "")

    def _report(self, number: int, progress: ProgressState) -> None:
        with self._lock:
            if self._state is not None and self._state.id == number:
                self._state = replace(self._state, progress=progress)

    def _end(self, number: int, state: str, message: str) -> None:
        with self._lock:
            if self._state is not None and self._state.id == number:
                self._state = replace(self._state, state=state, message=message)
