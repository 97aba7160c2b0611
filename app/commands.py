"""The one table of commands: keys, names, arguments. Every face and the `:` line read it.

Only what exists is listed. A command of scope `core` is a verb of the Debugger; one of scope
`face` is done by the screen itself (play, help, quit), so that both screens name it alike.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from app.session.cursor import STRIDES


class CommandError(ValueError):
    """A command that does not exist or was given wrong arguments."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a command."""

    name: str
    type: str
    """int | float | str | path | rest (all that follows on the line)"""
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

    @property
    def takes_rest(self) -> bool:
        """True when all that follows on the line is one argument, quotes and all"""
        return len(self.arguments) == 1 and self.arguments[0].type == "rest"


_STEP = Argument("step", "int", "step number, from 0")
_ROW = Argument("row", "int", "row, 0 north")
_COL = Argument("col", "int", "column, 0 west")
_KERNEL = Argument("kernel", "str", "kernel id, or the beginning of one")
_PATH = Argument("path", "path", "file to write: .png .svg .html .csv .npz .json .wscope")
_COUNT = Argument("count", "int", "how many", default="1")
_NUMBER = Argument("number", "int", "number of a breakpoint or watchpoint")
_CONDITION = Argument("condition", "rest", "such as: sram > 46KB and kernel == ffn1")
_BREAK = Argument("place", "rest", "step 12 | cycle 500 | sample 2 | kernel ffn1 [start|end] | "
                  "a condition; nothing: the selected kernel's start, else this step",
                  default="")  # fmt: skip
_WATCH = Argument("condition", "rest", "such as: sram > 46KB, link > 90%, waiting > 500; nothing: "
                  "what the map shows of the selected PE", default="")  # fmt: skip
_TARGET = Argument("target", "rest", "pe 3,4 | link 3,4 east | kernel ffn1 | step 12; nothing: "
                   "the selection, else the step", default="")  # fmt: skip


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
    ("link_south", "9"), ("kind", "y"), ("phase", "Y"),
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
                                 choices=("", *STRIDES))),
    _core("sample", "", "follow sample", "the sample that strides by kernel and layer follow",
          "time", "select_sample", Argument("sample", "int", "sample, from 0")),
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
    _core("log", "L", "log scale", "colours follow log(1 + value), or no longer", "map", "set_log",
          Argument("scale", "str", "on | off; nothing: the other", default="",
                   choices=("", "on", "off"))),
    _core("zoom-in", "+ =", "zoom in", "show half as many rows and columns", "map", "zoom",
          fixed=(2.0,)),
    _core("zoom-out", "-", "zoom out", "show twice as many rows and columns", "map", "zoom",
          fixed=(0.5,)),
    _core("fit", "0", "whole mesh", "show all PEs", "map", "fit"),
    _core("focus", "f", "focus", "zoom to the selection; again: whole mesh", "map", "focus"),
    _core("pan", "", "pan", "move the view by rows and columns", "map", "pan",
          Argument("rows", "int", "PEs south"), Argument("cols", "int", "PEs east")),
    _core("set", "", "set knob", "change a knob and compile again", "knobs", "set_knob",
          Argument("knob", "str", "knob name, or KNOB@KERNEL"),
          Argument("value", "str", "new value")),
    _core("undo", "u", "undo", "the run before the last knob", "knobs", "undo"),
    _core("redo", "U", "redo", "the run after it", "knobs", "redo"),
    _core("cancel", "", "cancel", "stop the work in the background", "knobs", "cancel"),
    _core("compare", "d", "compare", "measure this run against the one before the last knob, or a "
          "recording; 'off' ends it", "compare", "compare",
          Argument("other", "path", "a .wscope recording, or off", default="")),
    _core("export-difference", "", "export difference", "write where the compared runs differ",
          "compare", "export_difference", Argument("path", "path", "file to write: .png .svg")),
    _core("load-config", "", "load config", "set the knobs that a YAML file names", "knobs",
          "load_config", Argument("path", "path", "a YAML file of knobs")),
    _core("save-config", "", "save config", "write the knobs of this run to a YAML file", "knobs",
          "save_config", Argument("path", "path", "file to write: .yaml")),
    _core("break", "b", "break", "stop 'continue' at a step, cycle, sample, kernel or condition",
          "debug", "add_break", _BREAK),
    _core("watch", "w", "watch", "stop 'continue' where a condition turns true", "debug",
          "add_watch", _WATCH),
    _core("continue", "c", "continue", "run to the next breakpoint or watchpoint", "debug",
          "run_until"),
    _core("reverse", "C", "reverse-continue", "run back to the last one that turned true",
          "debug", "reverse_until"),
    _core("until", "", "until", "run to where a condition turns true next", "debug",
          "run_until", _CONDITION),
    _core("until-back", "", "back until", "run back to where a condition turned true last",
          "debug", "reverse_until", _CONDITION),
    _core("delete", "", "delete", "forget a breakpoint", "debug", "delete_break", _NUMBER),
    _core("enable", "", "enable", "let a breakpoint stop runs again", "debug", "enable_break",
          _NUMBER),
    _core("disable", "", "disable", "keep a breakpoint but let it stop nothing", "debug",
          "disable_break", _NUMBER),
    _core("once", "", "once", "let a breakpoint stop one run and go", "debug", "once_break",
          _NUMBER),
    _core("ignore", "", "ignore", "pass over a breakpoint a number of times", "debug",
          "ignore_break", _NUMBER, Argument("count", "int", "times")),
    _core("explain", "", "explain", "say why, from the pixel back to the model's nodes", "debug",
          "explain", _TARGET),
    _core("advise", "", "try advice", "try what the rules of advice propose", "debug", "advise",
          Argument("seconds", "float", "time budget", default="10")),
    _core("optimize", "", "optimize", "try single knobs and pairs, show the best", "debug",
          "optimize", Argument("seconds", "float", "time budget", default="20")),
    _core("fold", "", "fold scope", "open or close a scope of the model graph; nothing: close all",
          "graph", "fold", Argument("scope", "rest", "scope, such as h0/attn", default="")),
    _core("reveal", "", "reveal", "open the scopes that hold the selected kernel", "graph",
          "reveal"),
    _core("values", "V", "compute values", "compute the tensors of sample 0 and their errors",
          "values", "compute_values"),
    _core("export", "", "export", "write what is shown to a file", "export", "export", _PATH),
    _face("idle", "i", "idle regions", "show the largest idle regions and why"),
    _face("breaks", "B", "breakpoints", "show breakpoints, and why the run stopped"),
    _face("hot-links", "H", "hot links", "show the hottest links and ramps, and who sends"),
    _face("why", "X", "why", "explain what is selected, back to the model's nodes"),
    _face("advice", "A", "advice", "show what the rules say, and what trying gave"),
    _face("bottleneck", "O", "bottleneck", "show what the makespan is made of, and its bound"),
    _face("memory", "P", "memory at peak", "show SRAM in program order, and who holds the peak"),
    _face("activations", "a", "activations", "show how long each activation lives, and what it "
          "costs"),
    _face("turn", "W", "whose turn", "show the phases of the kernel whose turn it is, and what "
          "arrives"),
    _face("roofline", "R", "roofline", "show how near each kernel is to what the machine allows"),
    _face("graph", "G", "model graph", "show the model's nodes, scopes open or closed"),
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
    if command.takes_rest and len(given) > 1:
        given = (" ".join(str(word) for word in given),)
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
    if argument.type in ("str", "path", "rest"):
        return text
    try:
        return int(text) if argument.type == "int" else float(text)
    except ValueError:
        kind = "a whole number" if argument.type == "int" else "a number"
        raise CommandError(
            f"'{command.id}': {argument.name} is '{text}', must be {kind}; usage: {command.usage}"
        ) from None
