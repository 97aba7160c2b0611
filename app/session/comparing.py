"""The verbs of a session that look at a second run, and those that read and write knobs as files.

The second run is A, the one on screen is B; it stays until another is named. Knows no screen.
"""

from __future__ import annotations

from pathlib import Path

from app.commands import CommandError
from app.configs.file import read_config, write_config
from app.export.difference import export_difference
from app.runs.run import Run
from app.runs.saving import Opened, load_run
from app.session.jobs import JobState
from app.session.tuning import next_run_id
from app.session.valuing import ValueVerbs
from app.views.build_compare import view_compare, view_difference
from app.views.compare import CompareView, DifferenceView
from engine.progress import Progress


class ComparingVerbs(ValueVerbs):
    """Keeps the run that the one on screen is compared with."""

    _other: Run | None = None

    @property
    def compared(self) -> Run | None:
        """the run compared with, None before `compare`"""
        return self._other

    @property
    def compared_as(self) -> str:
        """how to compare so again: a recording's name, or how many of the changes of knobs that led
        here the run compared with had; empty where neither is known"""
        with self._lock:
            if self._other is None:
                return ""
            if self._other.source.lower().endswith(".wscope"):
                return self._other.source
            place = self._history.place_of(self._other)
            return "" if place is None else str(place)

    def compare(self, other: str = "") -> JobState | None:
        """Compare with a recording, or with the run before the last knob when none is named.

        'off' ends the comparison. A recording is opened in the background.

        Raises:
            CommandError: there is no run before, or the file is no recording.
        """
        with self._lock:
            if other == "off":
                self._other = None
                self._say("nothing is compared")
                return None
            if other:
                return self._compare_with(Path(other))
            before = self._history.before
            if before is None:
                raise CommandError(
                    "there is no run before this one: change a knob first, or name a recording"
                )
            self._attach_other(before)
            return None

    def _compare_with(self, path: Path) -> JobState:
        if path.suffix.lower() != ".wscope":
            raise CommandError(f"'{path}' is no .wscope recording, so it cannot be compared with")

        def work(progress: Progress) -> Opened:
            return load_run(next_run_id(), path, progress)

        self._say(f"opening {path.name}")
        return self._jobs.start(
            f"compare {path.name}", work, lambda opened: self._attach_other(opened.run),
            self._say_failed,
        )  # fmt: skip

    def _attach_other(self, run: Run) -> None:
        with self._lock:
            self._other = run
            self._say(view_compare(run, self.run, self._cursor.step).sentence)

    def view_compare(self) -> CompareView | None:
        """Return the run on screen measured against the other, None when nothing is compared."""
        with self._lock:
            run, other, step = self.run, self._other, self._cursor.step
        return None if other is None else view_compare(other, run, step)

    def view_difference(
        self, height: int, width: int, what: str = "run", metric: str | None = None
    ) -> DifferenceView | None:
        """Return the map of what differs, None when nothing is compared.

        `what` is run, or step: the one on screen and the other run's at the same progress.

        Raises:
            CommandError: a metric without numbers, or neither run nor step.
        """
        if what not in ("run", "step"):
            raise CommandError(f"what differs is shown for a 'run' or a 'step', not '{what}'")
        tied = self.view_compare()
        with self._lock:
            run, other, chosen = self.run, self._other, metric or self._cursor.metric
        if other is None or tied is None:
            return None
        steps = (tied.step_a, tied.step_b) if what == "step" else None
        return view_difference(other, run, chosen, height, width, steps)

    def export_difference(self, path: str) -> Path:
        """Write the map of what differs over the run as .png or .svg.

        Raises:
            CommandError: nothing is compared, or the metric has no numbers.
            ExportError: another ending, or a file that cannot be written.
        """
        with self._lock:
            run, other, metric = self.run, self._other, self._cursor.metric
        if other is None:
            raise CommandError("nothing is compared: use 'compare' first")
        written = export_difference(other, run, metric, Path(path), "dark")
        with self._lock:
            self._say(f"wrote {written}")
        return written

    # -- config files --------------------------------------------------------------------------

    def load_config(self, path: str) -> JobState:
        """Set the knobs that a YAML file names and compile again in the background.

        Raises:
            ConfigFileError: the file makes no sense; nothing is changed then.
        """
        with self._lock:
            found = read_config(Path(path), self._wanted)
            state = self._recompile(found.config, f"config {Path(path).name}")
            if found.notes:
                self._say("; ".join(found.notes))
            return state

    def save_config(self, path: str) -> Path:
        """Write the knobs of the run on screen to a YAML file.

        Raises:
            ConfigFileError: it cannot be written.
        """
        written = write_config(self.run.config, Path(path))
        with self._lock:
            self._say(f"wrote {written}")
        return written
