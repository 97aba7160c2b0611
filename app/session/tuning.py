"""Knobs, the worker behind them, and the runs they give: the part of a session that compiles.

The run on screen stays until the next one is ready. Knows no screen.
"""

from __future__ import annotations

import itertools

from app.runs.opening import USER_ERRORS
from app.runs.routing import routing_of
from app.runs.run import Run, make_run
from app.runs.values import ValuesError
from app.session import moves
from app.session.cursor import Cursor
from app.session.history import Change, History
from app.session.jobs import Jobs, JobState
from app.session.verbs import CursorVerbs
from engine.progress import Progress
from lowering.cache import StageCache
from lowering.config import CompileConfig, apply_knob, find_knob

_RUN_IDS = itertools.count(1)


def next_run_id() -> int:
    """Return a number that no run of this process has."""
    return next(_RUN_IDS)


class RunVerbs(CursorVerbs):
    """Keeps the runs of a session and a worker for the next one."""

    def __init__(self, run: Run, cursor: Cursor | None, cache: StageCache | None) -> None:
        super().__init__(run, cursor)
        self._cache = cache or StageCache()
        self._history = History(run)
        self._wanted = run.config
        self._jobs = Jobs((*USER_ERRORS, ValuesError))
        self._message = "; ".join(run.remarks) or self._message

    @property
    def run(self) -> Run:
        """the run on screen"""
        return self._history.run

    @property
    def job(self) -> JobState | None:
        """the newest background job, None before the first"""
        return self._jobs.state

    def set_knob(self, name: str, value: str | int, kernel: str | None = None) -> JobState:
        """Change a knob and compile again in the background; the run stays until that is done.

        A knob of a kernel acts on the one named, also as knob@kernel, else on the selected one.

        Raises:
            KnobError: no such knob, or a value it cannot take.
        """
        with self._lock:
            name, _, named = name.partition("@")
            kernel = kernel or named or None
            if find_knob(name).per_kernel and kernel is None:
                kernel = self._cursor.selection.kernel
            config = apply_knob(self._wanted, name, value, kernel=kernel)
            what = f"{name} = {value}" + (f" for {kernel}" if kernel else "")
            return self._recompile(config, what)

    def _recompile(self, config: CompileConfig, what: str) -> JobState:
        self._wanted = config
        run = self.run
        graph, source = run.compiled.graph, run.source
        known = routing_of(run) if config.seed == run.config.seed else None

        def work(progress: Progress) -> Run:
            return make_run(next_run_id(), graph, config, source, progress, self._cache, known)

        self._say(f"compiling with {what}")
        return self._jobs.start(
            what,
            work,
            lambda run: self._install(config, Change(what, run)),
            lambda message: self._failed(config, message),
        )

    def cancel(self) -> bool:
        """Stop the background job; False when none runs."""
        with self._lock:
            running = self._jobs.cancel()
            self._wanted = self.run.config
            self._say("stopping" if running else "nothing is at work in the background")
            return running

    def wait(self, timeout: float | None = None) -> JobState | None:
        """Wait for the background job and return how it stands."""
        return self._jobs.wait(timeout)

    def undo(self) -> Run:
        """Show the run before the last knob; a compilation in the background is stopped."""
        with self._lock:
            self._jobs.cancel()
            return self._travel(self.run, self._history.undo(), "nothing to undo")

    def redo(self) -> Run:
        """Show the run that undo left."""
        with self._lock:
            self._jobs.cancel()
            return self._travel(self.run, self._history.redo(), "nothing to redo")

    def forget_runs(self) -> int:
        """Forget the runs of older knobs to free memory; returns how many."""
        with self._lock:
            gone = self._history.forget()
            if gone:
                self._say(f"{gone} older run(s) were forgotten: the memory for runs is full")
            return gone

    def _travel(self, before: Run, change: str | None, nothing: str) -> Run:
        if change is None:
            self._wanted = self.run.config
            self._say(nothing)
        else:
            self._follow(before)
            self._say(change)
        return self.run

    def _install(self, config: CompileConfig, change: Change) -> None:
        with self._lock:
            if self._wanted is not config:  # a newer knob or a cancel came in between
                return
            before = self.run
            self._history.push(change)
            self._follow(before)
            delta = self._history.delta
            self._say(delta.sentence if delta else "")

    def _follow(self, before: Run) -> None:
        self._wanted = self.run.config
        self._cursor = moves.carry(before, self.run, self._cursor)

    def _failed(self, config: CompileConfig, message: str) -> None:
        with self._lock:
            if self._wanted is not config:
                return
            self._wanted = self.run.config
            self._say(message)
