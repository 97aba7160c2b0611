"""Values in a session: computed by its worker, kept with the run they belong to. No screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from app.runs.routing import values_of
from app.runs.run import Run
from app.runs.values import values_sentence, why_no_values
from app.session.history import Change
from app.session.jobs import Jobs, JobState
from app.session.tuning import RunVerbs, next_run_id
from app.session.warming import compile_kernels, must_compile
from app.views.build_values import view_values
from app.views.values import ValuesView
from engine.progress import Progress

ROUTED = "timed with the tokens that each expert takes"
"""the change that values of a mixture make"""


class ValueVerbs(RunVerbs):
    """Adds the values of the run on screen, and kernels compiled beside the session."""

    _warming: Jobs | None = None

    @property
    def job(self) -> JobState | None:
        """the job to show: the newest of the worker, or kernels being compiled beside it"""
        main = self._jobs.state
        warm = self._warming.state if self._warming else None
        if (
            warm is not None
            and not (main and main.is_running)
            and (main is None or warm.is_running)
        ):
            return replace(warm, id=0)
        return main

    def warm_up(self) -> None:
        """Compile the jit kernels in a thread of their own when this machine has none yet."""
        if self._warming is None and must_compile():
            self._warming = Jobs(())
            self._warming.start("first start", compile_kernels, lambda none: None)

    def cancel(self) -> bool:
        """Stop the background job; False when none runs."""
        with self._lock:
            stopped = super().cancel()
            if not stopped and self._warming is not None and self._warming.cancel():
                self._say("kernels go on being compiled out of sight; nothing waits for them")
                return True
            return stopped

    def compute_values(
        self, inputs: Mapping[str, np.ndarray] | None = None, samples: int = 1
    ) -> JobState | None:
        """Compute values in the background; those of the run on screen are computed once.

        Without inputs, seeded ones are made. A compilation at work goes first: nothing is
        started beside it. Returns the job, None when nothing was started (the message says why).
        """
        with self._lock:
            run = self.run
            refusal = self._why_not_now(run, inputs)
            if refusal:
                self._say(refusal)
                return None

            def work(progress: Progress) -> Run:
                return values_of(run, inputs, samples, next_run_id(), progress, self._cache)

            self._say("computing values")
            return self._jobs.start(
                "values", work, lambda found: self._attach(run, found), self._say_failed
            )

    def _why_not_now(self, run: Run, inputs: Mapping[str, np.ndarray] | None) -> str:
        if why := why_no_values(run):
            return f"no values: {why}"
        if run.computed is not None and inputs is None:
            return values_sentence(run.computed)
        state = self._jobs.state
        if state is not None and state.is_running:
            return f"'{state.what}' is at work; values can be computed after it ('cancel' stops it)"
        return ""

    def _attach(self, before: Run, run: Run) -> None:
        """Show a run with its values: the same one, or one timed anew by what they say.

        The same keeps its id, so its frames stay; another one is a change that can be undone.
        """
        assert run.computed is not None
        with self._lock:
            sentence = values_sentence(run.computed)
            if run.id == before.id:
                self._history.swap(run)
            elif self.run.id == before.id:
                self._history.push(Change(ROUTED, run))
                self._follow(before)
                sentence = f"{sentence}; {ROUTED}"
            self._say(sentence)

    def _say_failed(self, message: str) -> None:
        with self._lock:
            self._say(message)

    def view_values(self) -> ValuesView:
        """Return tensors, errors and outputs of the run on screen, or why there are none."""
        return view_values(self.run)
