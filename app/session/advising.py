"""Advice and the search over knobs in a session, run by its worker. Knows no screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from app.advice.advisor import (
    Advice,
    Optimum,
    Tried,
    advise,
    best_text,
    optimize,
    try_levers,
)
from app.advice.lab import CompileLab
from app.commands import CommandError
from app.runs.run import Run
from app.session.cursor import Cursor
from app.session.jobs import JobState
from app.session.valuing import ValueVerbs
from app.views.advice import AdviceView
from app.views.build_advice import view_advice
from engine.progress import Progress
from lowering.cache import StageCache

T = TypeVar("T")
_Found = tuple[tuple[Advice, ...], dict[str, Tried]]

LONGEST_SEARCH = 600.0
"""seconds that advice or a search may take"""


class AdviceVerbs(ValueVerbs):
    """Adds advice that was tried, and a search for the best knobs."""

    def __init__(self, run: Run, cursor: Cursor | None, cache: StageCache | None) -> None:
        super().__init__(run, cursor, cache)
        self._advice: tuple[int, tuple[Advice, ...]] | None = None
        self._levers: tuple[int, dict[str, Tried]] | None = None
        self._optimum: tuple[int, Optimum] | None = None

    def view_advice(self) -> AdviceView:
        """Return what the rules say, and what trying their proposals gave."""
        with self._lock:
            run, known, found = self.run, self._advice, self._optimum
        is_tried = known is not None and known[0] == run.id
        advice = known[1] if known is not None and is_tried else advise(run, None, 0.0)
        optimum = found[1] if found is not None and found[0] == run.id else None
        return view_advice(run, advice, is_tried=is_tried, optimum=optimum)

    def advise(self, seconds: float = 10.0) -> JobState | None:
        """Try what the rules propose, in the background, within a time budget.

        Returns the job, None when another is at work (the message says so).
        """
        with self._lock:
            run, budget = self.run, _budget(seconds)
            lab = CompileLab(run, self._cache)

            def work(progress: Progress) -> _Found:
                end = time.monotonic() + budget
                found = advise(run, lab, budget, progress)
                return found, try_levers(run, lab, end, progress)

            return self._search("advice", work, lambda found: self._keep_advice(run, found))

    def optimize(self, seconds: float = 20.0) -> JobState | None:
        """Try single knobs and pairs, in the background, within a time budget.

        Returns the job, None when another is at work (the message says so).
        """
        with self._lock:
            run, budget = self.run, _budget(seconds)
            lab = CompileLab(run, self._cache)

            def work(progress: Progress) -> Optimum:
                return optimize(run, lab, budget, progress)

            return self._search("optimize", work, lambda found: self._keep_optimum(run, found))

    def _tried_levers(self) -> dict[str, str]:
        """Return a sentence for each knob that was tried on the run on screen."""
        if self._levers is None or self._levers[0] != self.run.id:
            return {}
        return {name: item.sentence for name, item in self._levers[1].items()}

    def _search(
        self, what: str, work: Callable[[Progress], T], keep: Callable[[T], None]
    ) -> JobState | None:
        state = self._jobs.state
        if state is not None and state.is_running:
            self._say(f"'{state.what}' is at work; '{what}' can follow it ('cancel' stops it)")
            return None
        self._say(f"{what}: trying changes of knobs")
        return self._jobs.start(what, work, keep, self._say_failed)

    def _keep_advice(self, run: Run, found: _Found) -> None:
        with self._lock:
            self._advice, self._levers = (run.id, found[0]), (run.id, found[1])
            self._say(view_advice(run, found[0], is_tried=True, optimum=None).sentence)

    def _keep_optimum(self, run: Run, found: Optimum) -> None:
        with self._lock:
            self._optimum = run.id, found
            self._say(best_text(found))


def _budget(seconds: float) -> float:
    if not 0 < seconds <= LONGEST_SEARCH:
        raise CommandError(
            f"the time is {seconds:g} s, must be over 0 and at most {LONGEST_SEARCH:g}"
        )
    return seconds
