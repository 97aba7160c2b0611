"""The debugger without a screen: a script of commands in, views out. One face among the others.

Runs the same table of commands; what screens do themselves it answers with the view they show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from app.command_line import split_line
from app.commands import COMMANDS, Argument, Command, CommandError
from app.debugger import Debugger
from app.export.picture import ExportError
from app.runs.opening import USER_ERRORS
from app.runs.values import ValuesError
from app.views.base import View
from app.views.streaming import NO_TURNS

_SHOWN = (
    "status", "pe", "kernel", "map", "timeline", "knobs", "compare", "difference",
)  # fmt: skip
_FACES = {
    "idle": "idle", "report": "report", "tensors": "values", "help": "help", "breaks": "breaks",
    "hot-links": "hot", "why": "why", "advice": "advice", "bottleneck": "bottleneck",
    "memory": "memory", "activations": "activations", "turn": "streaming",
    "roofline": "roofline", "graph": "graph",
}  # fmt: skip
"""command of a screen -> view that it shows"""
SHOW = Command(
    "show", (), "show", "print a view", "screen", "", scope="face",
    arguments=(Argument("view", "str", "name of a view", default="status",
                        choices=(*_SHOWN, *_FACES.values())),),
)  # fmt: skip
TABLE = {**COMMANDS, SHOW.id: SHOW}
"""every command of a script: the shared table and `show`"""
_NOTHING = {
    "pe": "no PE is selected", "kernel": "no kernel is selected", "streaming": NO_TURNS,
    "compare": "nothing is compared: 'compare' chooses the other run",
    "difference": "nothing is compared: 'compare' chooses the other run",
}  # fmt: skip
"""view that may be missing -> what is said then"""
_MAP_SIZE = 24, 64
_USER_ERRORS: tuple[type[Exception], ...] = (CommandError, *USER_ERRORS, ValuesError, ExportError)


class ScriptError(CommandError):
    """A line of a script that failed; the message names it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a line of a script gave."""

    line: int
    """number of the line, from 1"""
    command: str
    """the line as typed"""
    message: str
    """answer of the command, may be empty"""
    view: View | None
    """what it shows: the status after a command, else the view asked for"""

    def to_json(self) -> dict[str, object]:
        """Return the answer in JSON's own types."""
        view = None if self.view is None else self.view.to_json()
        return {
            "line": self.line, "command": self.command, "message": self.message, "view": view,
        }  # fmt: skip


def play(debugger: Debugger, lines: Iterable[str]) -> Iterator[Answer]:
    """Run the lines of a script one after the other; each waits for the work it starts.

    Empty lines and those that begin with # are passed over; `quit` ends the script.

    Raises:
        ScriptError: a line that failed, with its number; what came before has been done.
    """
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text == "quit":
            return
        try:
            yield play_line(debugger, text, number)
        except _USER_ERRORS as error:
            raise ScriptError(f"line {number} ('{text}'): {error}") from error


def play_line(debugger: Debugger, text: str, number: int = 1) -> Answer:
    """Run one line and wait for the work it starts.

    Raises:
        CommandError: the command failed, or a screen is needed for it.
    """
    command, arguments = split_line(text, TABLE)
    if command.scope == "face":
        name = _view_name(command, arguments)
        view = view_of(debugger, name)
        return Answer(number, text, "" if view else _NOTHING[name], view)
    before = debugger.job
    debugger.do(command.id, *arguments)
    job = debugger.wait()
    if job is not None and job.state == "failed" and (before is None or job.id != before.id):
        raise CommandError(job.message)
    return Answer(number, text, debugger.message, debugger.view_status())


def _view_name(command: Command, arguments: tuple[str, ...]) -> str:
    if command.id == SHOW.id:
        name = arguments[0] if arguments else "status"
        if name not in SHOW.arguments[0].choices:
            listed = ", ".join(SHOW.arguments[0].choices)
            raise CommandError(f"there is no view '{name}'; views: {listed}")
        return name
    if command.id not in _FACES:
        raise CommandError(f"'{command.id}' needs a screen; 'show' prints views")
    return _FACES[command.id]


def view_of(debugger: Debugger, name: str) -> View | None:
    """Return a view by its name; None where there is nothing that it could show."""
    makers: dict[str, Callable[[], View | None]] = {
        "status": debugger.view_status, "pe": debugger.view_pe, "kernel": debugger.view_kernel,
        "map": lambda: debugger.view_map(*_MAP_SIZE), "timeline": debugger.view_timeline,
        "knobs": debugger.view_knobs, "idle": debugger.find_idle, "report": debugger.view_report,
        "compare": debugger.view_compare, "streaming": debugger.view_streaming,
        "difference": lambda: debugger.view_difference(*_MAP_SIZE),
        "values": debugger.view_values, "help": debugger.view_help,
    }  # fmt: skip
    return makers[name]() if name in makers else debugger.view_page(name)
