"""Opens pages over the map and turns what is chosen there into commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from rich.text import Text

from app.commands import CommandError
from app.tui.debug_desk import DebugDesk
from app.tui.keys import TABLE, parse_line, view_own_help
from app.tui.pages import PalettePage, PromptPage, TablePage, TextPage, specs
from app.tui.pages.compare_spec import compare_spec, kernel_of
from app.tui.pages.table import Choice, TableSpec
from app.tui.pages.values_spec import values_spec
from app.tui.survey_desk import SurveyDesk
from app.views.compare import CompareView
from app.views.idle import IdleView
from app.views.knobs import KnobRow, KnobsView
from app.views.report import ReportView
from app.views.values import ValuesView

_PROMPTS = {
    "search": "part of a kernel's or a source node's name",
    "goto": "a step 12, a PE 3,4 or a kernel",
    "export": "file to write: .png .svg .html .csv .npz .json",
}


class Host(Protocol):
    """What the desk needs of the application."""

    def command(self, command_id: str, *arguments: object) -> None:
        """Run a command."""

    def ask(self, page: str) -> None:
        """Fetch a page's view; `Desk.open` shows it."""

    def say(self, text: str, severity: str = "ok") -> None:
        """Show a sentence."""

    def push_screen(self, screen: Any, callback: Any = None) -> Any:
        """Show a page and call back with its result."""

    @property
    def metric(self) -> str:
        """id of the metric shown"""


class Desk:
    """The pages of a session."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._typed: tuple[str, ...] = ()
        self._open: dict[str, Callable[[Any], None]] = {
            "knobs": self._knobs, "idle": self._idle, "kernels": self._kernels,
            "report": self._report, "values": self._values, "compare": self._compare,
            **DebugDesk(host, self._table).pages(), **SurveyDesk(host, self._table).pages(),
        }  # fmt: skip

    def open(self, page: str, view: Any) -> None:
        """Show the answer to an `Ask`."""
        self._open[page](view)

    def _table(self, spec: TableSpec, chosen: Callable[[int, str], None]) -> None:
        def done(choice: Choice | None) -> None:
            if choice is not None:
                chosen(*choice)

        self._host.push_screen(TablePage(spec), done)

    # -- pages that need a view ------------------------------------------------------------------

    def _idle(self, view: IdleView) -> None:
        def go(row: int, key: str) -> None:
            north, west, rows, cols = view.regions[row].rect
            self._host.command("region", north, west, rows, cols)
            self._host.command("focus")

        self._table(specs.idle_spec(view), go)

    def _kernels(self, view: ReportView) -> None:
        def go(row: int, key: str) -> None:
            self._host.command("kernel", view.rows[row].name)
            self._host.command("focus")

        self._table(specs.kernels_spec(view), go)

    def _values(self, view: ValuesView) -> None:
        def go(row: int, key: str) -> None:
            if kernel := view.rows[row].kernel:
                self._host.command("kernel", kernel)
                self._host.command("focus")

        self._table(values_spec(view), go)

    def _report(self, view: ReportView) -> None:
        fits = "fits" if view.fits else "DOES NOT FIT"
        title = f"Report: {view.model} on {view.machine}, {fits}"
        self._host.push_screen(TextPage(title, specs.report_text(view)))

    def _knobs(self, view: KnobsView) -> None:
        def change(row: int, key: str) -> None:
            if key == "enter":
                self._edit(view.rows[row])
            else:
                self._host.command({"u": "undo", "U": "redo"}[key])

        self._table(specs.knobs_spec(view), change)

    def _edit(self, knob: KnobRow) -> None:
        if knob.choices:
            self._table(
                specs.choices_spec(knob),
                lambda row, key: self._host.command("set", knob.name, knob.choices[row]),
            )
            return

        def done(line: str | None) -> None:
            if line is not None:
                self._host.command("set", knob.name, line)

        title = f"{knob.label} ({knob.range})"
        self._host.push_screen(PromptPage(title, knob.help, str(knob.value)), done)

    def _compare(self, view: CompareView | None) -> None:
        if view is None:
            self._host.say("nothing is compared: 'compare' (d) chooses the other run", "warn")
            return

        def go(row: int, key: str) -> None:
            if key == "m":
                self._host.command("difference")
            elif key == "x":
                self._host.command("compare", "off")
            elif (kernel := kernel_of(view, row)) is not None:
                self._host.command("kernel", kernel)
                self._host.command("focus")

        self._table(compare_spec(view), go)

    # -- pages that need nothing -----------------------------------------------------------------

    def metrics(self) -> None:
        """Choose the metric from a list."""
        spec, names = specs.metrics_spec(self._host.metric)
        self._table(spec, lambda row, key: self._host.command("metric", names[row]))

    def help(self) -> None:
        """Show every command."""
        self._host.push_screen(TextPage("Help: keys and commands", help_body()))

    def prompt(self, command_id: str) -> None:
        """Ask for the one argument of a command."""

        def done(line: str | None) -> None:
            if line is not None:
                self._host.command(command_id, line)

        command = TABLE[command_id]
        page = PromptPage(f"{command.label}:", _PROMPTS.get(command_id, command.help))
        self._host.push_screen(page, done)

    def palette(self) -> None:
        """Choose any command by a few letters; one that needs arguments is typed to its end."""

        def done(chosen: str | None) -> None:
            if chosen is None:
                return
            if any(argument.default is None for argument in TABLE[chosen].arguments):
                self.line(f"{chosen} ")
            else:
                self._host.command(chosen)

        self._host.push_screen(PalettePage(tuple(TABLE.values())), done)

    def line(self, value: str = "") -> None:
        """Ask for any command."""

        def done(line: str | None) -> None:
            if line is None:
                return
            self._typed = (*self._typed, line)
            try:
                command, arguments = parse_line(line)
            except CommandError as error:
                self._host.say(str(error), "warn")
                return
            self._host.command(command.id, *arguments)

        usages = tuple(command.id for command in TABLE.values())
        page = PromptPage(
            ":", "a command of the help page; right arrow completes, up arrow: earlier lines",
            value, usages, self._typed,
        )  # fmt: skip
        self._host.push_screen(page, done)


def help_body() -> Text:
    """Return the help page's text."""
    return specs.help_text(view_own_help())
