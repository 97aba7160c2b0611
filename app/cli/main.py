"""The command line: `waferscope VERB ...`. Parses, hands over, turns errors into exit codes.

Imports nothing heavy: a verb's module is loaded when the verb runs.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from app.cli.comparing import add_comparing, add_gate

OK, DOES_NOT_FIT, USAGE, UNSUPPORTED, GATE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
"""exit codes of every verb"""

_VERBS = {
    # verb: (module, function)
    "demo": ("app.cli.screen", "demo"),
    "open": ("app.cli.screen", "open_file"),
    "run": ("app.cli.model", "run"),
    "check": ("app.cli.model", "check"),
    "show": ("app.cli.recording", "show"),
    "verify": ("app.cli.recording", "verify"),
    "export": ("app.cli.export", "export"),
    "compare": ("app.cli.compare", "compare"),
    "sweep": ("app.cli.sweep", "sweep"),
    "debug": ("app.cli.debug", "debug"),
    "attach": ("app.cli.attach", "attach"),
    "machines": ("app.cli.tables", "machines"),
    "knobs": ("app.cli.tables", "knobs"),
    "ops": ("app.cli.tables", "ops"),
}


class _Parser(argparse.ArgumentParser):
    """argparse that names the nearest verb or option instead of listing all."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(USAGE)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    parser = _Parser(
        prog="waferscope", description="See what a neural network does on a wafer-scale mesh.",
        epilog="Exit codes: 0 ok, 1 does not fit, 2 usage or unreadable input, 3 unsupported "
        "operator, 4 a check failed, 70 internal fault, 130 interrupted.",
    )  # fmt: skip
    parser.add_argument("--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    _add_screens(verbs)
    _add_models(verbs)
    _add_recordings(verbs)
    add_comparing(verbs, _add_choices)
    _add_debug(verbs)
    _add_attach(verbs)
    for name, text in (("machines", "list machines and where their figures come from"),
                       ("knobs", "list what can be tuned"),
                       ("ops", "list the ONNX operators that can be read")):  # fmt: skip
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("--json", action="store_true", help="as JSON")
    return parser


def _add_screens(verbs: argparse._SubParsersAction[_Parser]) -> None:
    demo = verbs.add_parser("demo", help="compile a bundled model and open it")
    demo.add_argument("name", nargs="?", help="demo to open (default: transformer)")
    opened = verbs.add_parser("open", help="open a model or a recording")
    opened.add_argument("file", help="a model, a .wscope recording, or a demo's name")
    for verb in (demo, opened):
        verb.add_argument("--tui", action="store_true", help="in this terminal, not a browser")
        verb.add_argument("--no-open", action="store_true", help="do not start a browser")
        verb.add_argument("--port", type=int, default=8050, help="web port (default 8050)")
        verb.add_argument("--host", default="127.0.0.1",
                          help="address to listen on; others than this machine's need a token, "
                          "which is printed once")  # fmt: skip
        verb.add_argument("--allow-name", action="append", default=[], metavar="NAME",
                          help="further name the server answers to")  # fmt: skip
        verb.add_argument("--base-path", default="", metavar="/PATH/",
                          help="path below which a reverse proxy shows it")  # fmt: skip
        verb.add_argument("--folder", action="append", default=[], metavar="DIR",
                          help="folder whose models the page may open (default: this)")  # fmt: skip
        _add_choices(verb)


def _add_choices(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--machine", help="wse1 | wse2 | wse3 | mesh-RxC | a YAML file")
    verb.add_argument("--config", metavar="C.yaml", help="a YAML file of knobs")
    verb.add_argument("--write-config", metavar="C.yaml", help="write the knobs in use to a file")
    verb.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="KNOB=VALUE",
        help="turn a knob (KNOB@KERNEL=VALUE for one kernel)",
    )
    verb.add_argument("--dim", dest="dims", action="append", default=[], metavar="N=32",
                      help="size of a symbolic dimension")  # fmt: skip
    verb.add_argument("--samples", help="samples sent through, or auto")
    shape = verb.add_argument_group("models from a config.json, a folder or a Model Zoo YAML")
    shape.add_argument("--task", metavar="TASK", help="prefill | decode | training")
    shape.add_argument("--batch", metavar="N", help="sequences a sample")
    shape.add_argument("--sequence", metavar="N", help="tokens a sequence (decode: new ones)")
    shape.add_argument("--kv", metavar="N", help="decode: tokens attended to, new ones included")
    shape.add_argument("--dtype", metavar="DTYPE", help="the same as --set dtype=DTYPE")


def _add_debug(verbs: argparse._SubParsersAction[_Parser]) -> None:
    debug = verbs.add_parser("debug", help="run a script of debugger commands without a screen")
    debug.add_argument("file", help="a .wscope recording, a model, or a demo's name")
    debug.add_argument("--script", required=True, metavar="CMDS.txt",
                       help="a command a line, # for remarks; - reads standard input")  # fmt: skip
    debug.add_argument("--json", action="store_true", help="one JSON object a line of the script")
    _add_choices(debug)


def _add_attach(verbs: argparse._SubParsersAction[_Parser]) -> None:
    attach = verbs.add_parser("attach", help="show a running dashboard's session in this terminal")
    attach.add_argument("url", nargs="?", default="http://127.0.0.1:8050/",
                        help="address the server printed (default: %(default)s); ?session=ID "
                        "picks a session")  # fmt: skip
    attach.add_argument("--session", default="", metavar="ID",
                        help="session, or the beginning of one (default: the newest)")  # fmt: skip
    attach.add_argument("--token", default="", help="token of the server (better: set "
                        "WAFERSCOPE_TOKEN, or type it when asked)")  # fmt: skip
    attach.add_argument("--list", action="store_true", help="list the sessions and leave")


def _add_models(verbs: argparse._SubParsersAction[_Parser]) -> None:
    run = verbs.add_parser("run", help="compile and execute a model")
    run.add_argument("-o", "--output", metavar="R.wscope", help="write a recording")
    run.add_argument(
        "--values",
        choices=("none", "first", "all"),
        help="compute the tensors of no sample, the first, or all (default: first, "
        "none for a model without numbers)",
    )
    run.add_argument("--inputs", metavar="X.npz", help="arrays by the model's input names")
    run.add_argument("--outputs", metavar="Y.npz", help="write the model's outputs")
    run.add_argument("--compile-only", action="store_true", help="do not execute")
    check = verbs.add_parser("check", help="compile only: fits, or why not")
    for verb in (run, check):
        verb.add_argument("model", help="an .onnx file, config.json, model folder, YAML or demo")
        verb.add_argument("--json", action="store_true", help="print the figures as JSON")
        _add_choices(verb)
        add_gate(verb)


def _add_recordings(verbs: argparse._SubParsersAction[_Parser]) -> None:
    show = verbs.add_parser("show", help="print a step, a PE or a kernel of a recording")
    show.add_argument("recording", metavar="R.wscope")
    show.add_argument("--step", type=int, help="step number, negative from the end")
    show.add_argument("--pe", metavar="R,C", help="row and column of a PE")
    show.add_argument("--kernel", help="kernel id, or the beginning of one")
    show.add_argument("--json", action="store_true", help="as JSON")
    verify = verbs.add_parser("verify", help="compute a recording anew and compare")
    verify.add_argument("recording", metavar="R.wscope")
    export = verbs.add_parser("export", help="write a map as a picture or as data")
    export.add_argument("recording", metavar="R.wscope")
    export.add_argument("--metric", required=True, help="metric id, such as utilization")
    export.add_argument("-o", "--output", required=True, metavar="F.png|svg|html|npz|csv|json")
    export.add_argument("--log", action="store_true", help="colours follow log(1 + value)")
    export.add_argument("--theme", choices=("light", "dark"), default="light")
    export.add_argument("--whole", action="store_true", help="all PEs, also those without kernels")
    which = export.add_mutually_exclusive_group()
    which.add_argument("--step", type=int, help="this step (default: the first)")
    which.add_argument("--peak", action="store_true", help="the step with the highest value")
    which.add_argument("--max", action="store_true", help="each PE's own highest step")
    which.add_argument("--total", action="store_true", help="sum over all steps")
    which.add_argument("--steps", metavar="A:B", help="steps A up to B - 1")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _suggest(words)
        arguments = build_parser().parse_args(words)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    if arguments.version:
        from app.version import VERSION

        print(f"waferscope {VERSION}")
        return OK
    if arguments.verb is None:
        build_parser().print_help()
        return OK
    return _guarded(arguments, words)


def _suggest(words: Sequence[str]) -> None:
    verb = next((word for word in words if not word.startswith("-")), None)
    if verb is None or verb in _VERBS:
        return
    near = difflib.get_close_matches(verb, _VERBS, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"verbs: {', '.join(_VERBS)}"
    print(f"waferscope: there is no verb '{verb}'; {hint}", file=sys.stderr)
    raise SystemExit(USAGE)


def _guarded(arguments: argparse.Namespace, words: Sequence[str]) -> int:
    module, function = _VERBS[arguments.verb]
    try:
        code: int = getattr(import_module(module), function)(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as error:
        from app.cli.faults import exit_code

        return exit_code(error, words)


if __name__ == "__main__":
    raise SystemExit(main())
