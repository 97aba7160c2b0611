"""The debugger: one session on one model. Every face calls these verbs and paints the views.

The only mutable object of a session. Everything it hands out is frozen; verbs and views may be
called from any thread. It knows no screen.
"""

from __future__ import annotations

from pathlib import Path

from app.commands import CommandError, find_command, parse_arguments
from app.runs.frames import FrameCache
from app.runs.opening import open_run
from app.runs.run import Run
from app.session.comparing import ComparingVerbs
from app.session.cursor import Cursor
from app.session.surveying import SurveyVerbs
from app.session.tuning import next_run_id
from app.views.build_idle import view_idle
from app.views.build_kernel import view_kernel
from app.views.build_knobs import view_knobs
from app.views.build_map import view_map
from app.views.build_pe import view_pe
from app.views.build_report import view_report
from app.views.build_status import view_status
from app.views.build_streaming import view_streaming
from app.views.build_timeline import view_timeline
from app.views.help import HelpView, view_help
from app.views.idle import IdleView
from app.views.kernel import KernelView
from app.views.knobs import KnobsView
from app.views.map import Frame, MapView
from app.views.pe import PEView
from app.views.report import ReportView
from app.views.status import StatusView
from app.views.streaming import StreamingView
from app.views.timeline import TimelineView
from engine.progress import NO_PROGRESS, Progress
from lowering.cache import StageCache
from lowering.config import CompileConfig
from lowering.frontends.transformer.options import ModelOptions


class Debugger(ComparingVerbs, SurveyVerbs):
    """A cursor over a run, the runs before it, and a worker for the next one."""

    def __init__(
        self, run: Run, *, cursor: Cursor | None = None, cache: StageCache | None = None
    ) -> None:
        super().__init__(run, cursor, cache)
        self._frames = FrameCache()

    @classmethod
    def open(
        cls,
        source: str | Path,
        config: CompileConfig | None = None,
        *,
        dims: dict[str, int] | None = None,
        shape: ModelOptions | None = None,
        progress: Progress = NO_PROGRESS,
    ) -> Debugger:
        """Open a model file, a demo's name or a .wscope recording.

        `shape` has the task and lengths of a model whose file leaves them open.

        Raises:
            ModelImportError, UnsupportedOpError, RecordingError, Cancelled.
        """
        cache = StageCache()
        opened = open_run(next_run_id(), source, config, dims or {}, progress, cache, shape=shape)
        return cls(opened.run, cursor=opened.cursor, cache=cache)

    def share_frames(self, frames: FrameCache) -> None:
        """Keep frames together with other sessions of this process."""
        self._frames = frames

    def do(self, command_id: str, *arguments: object) -> str:
        """Run a command of the table by name; returns the answer (may be empty).

        Raises:
            CommandError: no such command, wrong arguments, or a command the screen does itself.
        """
        command = find_command(command_id)
        if command.scope == "face":
            raise CommandError(f"'{command_id}' is done by the screen, not by the debugger")
        values = parse_arguments(command, arguments)
        getattr(self, command.verb)(*values)
        return self._message

    # -- views ---------------------------------------------------------------------------------

    def view_map(self, height: int, width: int) -> MapView:
        """Return the map pooled to at most height x width pixels."""
        with self._lock:
            run, cursor, hit = self.run, self._cursor, self.hit_mark()
        field = self._frames.field(run, cursor.metric, cursor.step)
        return view_map(run, cursor, height, width, field, hit)

    def frame(self, metric: str, step: int) -> Frame:
        """Return the whole grid of a metric in a step at full resolution."""
        return self._frames.get(self.run, metric, step)

    def compared_frame(self, metric: str, step: int) -> Frame:
        """Return the same of the run compared with.

        Raises:
            KeyError: no such metric. IndexError: no such step, or nothing is compared.
        """
        other = self.compared
        if other is None:
            raise IndexError("nothing is compared")
        return self._frames.get(other, metric, step)

    def frame_bytes(self, metric: str, step: int) -> bytes:
        """Return the codes of `frame`, rows x cols in C order."""
        return self.frame(metric, step).data

    def view_pe(self, row: int | None = None, col: int | None = None) -> PEView | None:
        """Return a PE (default: the selected one), None when none is selected."""
        with self._lock:
            run, cursor = self.run, self._cursor
        if row is not None and col is not None:
            return view_pe(run, cursor.step, row, col)
        place = cursor.selection.pe
        return view_pe(run, cursor.step, *place) if place else None

    def view_kernel(self, name: str | None = None) -> KernelView | None:
        """Return a kernel (default: the selected one), None when none is selected."""
        with self._lock:
            run, chosen = self.run, name or self._cursor.selection.kernel
        return view_kernel(run, chosen) if chosen else None

    def view_timeline(
        self, bins: int = 400, start: int = 0, end: int | None = None
    ) -> TimelineView:
        """Return series and bars of cycles [start, end), the whole run by default."""
        with self._lock:
            run, cursor = self.run, self._cursor
        return view_timeline(run, cursor.step, bins, start, end)

    def view_streaming(self) -> StreamingView | None:
        """Return whose turn it is and which weights arrive; None for a pipeline."""
        with self._lock:
            return view_streaming(self.run, self._cursor.step)

    def view_report(self) -> ReportView:
        """Return the compile report and the run's figures."""
        return view_report(self.run)

    def find_idle(self, scope: str = "run") -> IdleView:
        """Return the ten largest idle regions of the run, or of the step shown ('step')."""
        with self._lock:
            run, cursor, tried = self.run, self._cursor, self._tried_levers()
        return view_idle(run, cursor.step if scope == "step" else None, tried)

    def view_knobs(self) -> KnobsView:
        """Return every knob, as wanted last, and what can be undone."""
        with self._lock:
            return view_knobs(self._wanted, self._history, self._cursor.selection.kernel)

    def view_status(self) -> StatusView:
        """Return the status line."""
        with self._lock:
            return view_status(
                self.run, self._cursor, self.job, self._history.delta,
                self._revision, self._message,
            )  # fmt: skip

    def view_help(self) -> HelpView:
        """Return every command."""
        return view_help()

    # -- files ---------------------------------------------------------------------------------

    def export(self, path: str | Path) -> Path:
        """Write the metric and step shown; the ending chooses the kind of file.

        Raises:
            ExportError: an ending that is not known, or a file that cannot be written.
        """
        from app.export import export_view

        with self._lock:
            run, cursor, hit = self.run, self._cursor, self.hit_mark()
        written = export_view(run, cursor, Path(path), hit)
        with self._lock:
            self._say(f"wrote {written}")
        return written
