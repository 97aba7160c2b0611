"""The one table of commands: keys, names, arguments. Every face and the `:` line read it.

Only what exists is listed. A command of scope `core` is a verb of the Debugger; one of scope
`face` is done by the screen itself (play, help, quit), so that both screens name it alike.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass


class CommandError(ValueError):
    """A command that does not exist or was given wrong arguments."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command."""

    name: str
    type: str
    """int | float | str | path"""
    help: str
    default: str | None = None
    """text used when it is left out; None = must be given"""
    choices: tuple[str, ...] = ()
    """what is allowed, empty = anything of the type"""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a user can do."""

    id: str
    keys: tuple[str, ...]
    """keys that run it without arguments, first the one to show; 'space', 'escape' spelled out"""
    label: str
    help: str
    group: str
    verb: str
    """method of the Debugger, empty for scope face"""
    fixed: tuple[int | float | str, ...] = ()
    """arguments put before those given"""
    arguments: tuple[Argument, ...] = ()
    scope: str = "core"
    """core | face"""

    @property
    def usage(self) -> str:
        """the command as typed, optional arguments in brackets"""
        words = [a.name.upper() if a.default is None else f"[{a.name.upper()}]"
                 for a in self.arguments]  # fmt: skip
        return " ".join([self.id, *words])


_STEP = Argument("step", "int", "step number, from 0")
_ROW = Argument("row", "int", "row, 0 north")
_COL = Argument("col", "int", "column, 0 west")
_KERNEL = Argument("kernel", "str", "kernel id, or the beginning of one")
_PATH = Argument("path", "path", "file to write: .png .svg .html .csv .npz .json .wscope")
_COUNT = Argument("count", "int", "how many", default="1")


def _core(
    id: str,  # noqa: A002
    keys: str,
    label: str,
    help: str,  # noqa: A002
    group: str,
    verb: str,
    *arguments: Argument,
    fixed: tuple[int | float | str, ...] = (),
) -> Command:
    return Command(id, tuple(keys.split()), label, help, group, verb, fixed, arguments)


def _face(id: str, keys: str, label: str, help: str) -> Command:  # noqa: A002
    return Command(id, tuple(keys.split()), label, help, "screen", "", scope="face")


_METRIC_KEYS = (
    ("utilization", "1"), ("cause", "2"), ("sram_live", "3"), ("sram_allocated", "4"),
    ("traffic", "5"), ("link_east", "6"), ("link_west", "7"), ("link_north", "8"),
    ("link_south", "9"),
)  # fmt: skip

_TABLE = (
    _core("next", "n right", "forward", "next stop of the stride", "time", "step", _COUNT),
    _core("back", "N left", "back", "previous stop of the stride", "time", "step_back", _COUNT),
    _core("event", "s", "next event", "one step forward", "time", "step_events", fixed=(1,)),
    _core("event-back", "S", "previous event", "one step back", "time", "step_events",
          fixed=(-1,)),
    _core("seek", "", "go to step", "show a step by its number", "time", "seek", _STEP),
    _core("cycle", "", "go to cycle", "show the step that holds a cycle", "time", "seek_cycle",
          Argument("cycle", "int", "cycle, from 0")),
    _core("first", "home", "first step", "the start of the run", "time", "seek", fixed=(0,)),
    _core("last", "end", "last step", "the end of the run", "time", "seek", fixed=(-1,)),
    _core("peak", "p", "peak step", "the step where the metric is highest", "time", "seek_peak"),
    _core("stride", "t", "stride", "what one step forward means; no name: the next one", "time",
          "set_stride", Argument("stride", "str", "stride", default="",
                                 choices=("", "kernel", "event", "sample"))),
    _core("sample", "", "follow sample", "the sample that the kernel stride follows", "time",
          "select_sample", Argument("sample", "int", "sample, from 0")),
    _core("pe", "", "select PE", "show everything about one PE", "select", "select_pe",
          _ROW, _COL),
    _core("kernel", "", "select kernel", "select a kernel by name", "select", "select_kernel",
          _KERNEL),
    _core("region", "", "select region", "select a rectangle of PEs", "select", "select_region",
          _ROW, _COL, Argument("rows", "int", "height"), Argument("cols", "int", "width")),
    _core("clear", "escape", "clear", "select nothing", "select", "clear"),
    _core("goto", "", "go to", "a step (12), a PE (3,4) or a kernel (ffn1)", "select", "goto",
          Argument("place", "str", "12 | 3,4 | ffn1")),
    _core("search", "", "search", "select the next kernel whose name or source matches", "select",
          "search", Argument("text", "str", "part of a kernel's or a source node's name")),
    _core("west", "h", "west", "move the selected PE west", "select", "move", fixed=(0, -1)),
    _core("south", "j down", "south", "move the selected PE south", "select", "move",
          fixed=(1, 0)),
    _core("north", "k up", "north", "move the selected PE north", "select", "move",
          fixed=(-1, 0)),
    _core("east", "l", "east", "move the selected PE east", "select", "move", fixed=(0, 1)),
    _core("hot", ".", "next hot spot", "the next of the ten hottest places of the metric",
          "select", "next_hot", fixed=(1,)),
    _core("hot-back", ",", "previous hot spot", "the previous hot spot", "select", "next_hot",
          fixed=(-1,)),
    _core("metric", "", "metric", "what the map shows", "map", "set_metric",
          Argument("metric", "str", "metric id, such as utilization or cause:wait-input")),
    *(_core(f"metric-{name}", key, name.replace("_", " "), f"show {name.replace('_', ' ')}",
            "map", "set_metric", fixed=(name,)) for name, key in _METRIC_KEYS),
    _core("log", "L", "log scale", "colours follow log(1 + value), or no longer", "map",
          "toggle_log"),
    _core("zoom-in", "+ =", "zoom in", "show half as many rows and columns", "map", "zoom",
          fixed=(2.0,)),
    _core("zoom-out", "-", "zoom out", "show twice as many rows and columns", "map", "zoom",
          fixed=(0.5,)),
    _core("fit", "0", "whole mesh", "show all PEs", "map", "fit"),
    _core("focus", "f", "focus", "zoom to the selection; again: whole mesh", "map", "focus"),
    _core("pan", "", "pan", "move the view by rows and columns", "map", "pan",
          Argument("rows", "int", "PEs south"), Argument("cols", "int", "PEs east")),
    _core("set", "", "set knob", "change a knob and compile again", "knobs", "set_knob",
          Argument("knob", "str", "knob name"), Argument("value", "str", "new value")),
    _core("undo", "u", "undo", "the run before the last knob", "knobs", "undo"),
    _core("redo", "U", "redo", "the run after it", "knobs", "redo"),
    _core("cancel", "", "cancel", "stop the work in the background", "knobs", "cancel"),
    _core("values", "V", "compute values", "compute the tensors of sample 0 and their errors",
          "values", "compute_values"),
    _core("export", "", "export", "write what is shown to a file", "export", "export", _PATH),
    _face("idle", "i", "idle regions", "show the largest idle regions and why"),
    _face("tensors", "T", "values", "show tensors, their errors and the outputs"),
    _face("report", "r", "report", "show or hide the compile report"),
    _face("play", "space", "play", "step by itself, or stop"),
    _face("slower", "[", "slower", "play slower"),
    _face("faster", "]", "faster", "play faster"),
    _face("ask-search", "/", "search ...", "type what to search for"),
    _face("ask-goto", "g", "go to ...", "type where to go"),
    _face("ask-export", "e", "export ...", "type a file name"),
    _face("command", ":", "command line", "type any command of this table"),
    _face("help", "?", "help", "show this table"),
    _face("quit", "q", "quit", "leave"),
)  # fmt: skip

COMMANDS: dict[str, Command] = {command.id: command for command in _TABLE}


def keymap() -> dict[str, str]:
    """Return key -> command id for every bound key."""
    return {key: command.id for command in _TABLE for key in command.keys}


def find_command(command_id: str) -> Command:
    """Return a command by id.

    Raises:
        CommandError: there is none; the message names the nearest.
    """
    command = COMMANDS.get(command_id)
    if command is None:
        near = difflib.get_close_matches(command_id, COMMANDS, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else "; 'help' lists all"
        raise CommandError(f"there is no command '{command_id}'{hint}")
    return command


def parse_arguments(command: Command, given: tuple[object, ...]) -> tuple[int | float | str, ...]:
    """Return a command's arguments in their types, defaults filled in.

    Raises:
        CommandError: too many, too few, or not of the type; the message shows the usage.
    """
    if len(given) > len(command.arguments):
        raise CommandError(
            f"'{command.id}' takes {len(command.arguments)} argument(s), got {len(given)}; "
            f"usage: {command.usage}"
        )
    values = []
    for index, argument in enumerate(command.arguments):
        raw = given[index] if index < len(given) else argument.default
        if raw is None:
            raise CommandError(f"'{command.id}' needs {argument.name}; usage: {command.usage}")
        values.append(_parse_one(command, argument, raw))
    return (*command.fixed, *values)


def _parse_one(command: Command, argument: Argument, raw: object) -> int | float | str:
    text = str(raw)
    if argument.choices and text not in argument.choices:
        allowed = ", ".join(choice for choice in argument.choices if choice)
        raise CommandError(f"'{command.id}': {argument.name} is '{text}', must be one of {allowed}")
    if argument.type in ("str", "path"):
        return text
    try:
        return int(text) if argument.type == "int" else float(text)
    except ValueError:
        kind = "a whole number" if argument.type == "int" else "a number"
        raise CommandError(
            f"'{command.id}': {argument.name} is '{text}', must be {kind}; usage: {command.usage}"
        ) from None
