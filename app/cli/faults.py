"""From an error to a sentence on stderr and an exit code; a fault of ours leaves a report file."""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from app.cli.main import DOES_NOT_FIT, INTERNAL, INTERRUPTED, UNSUPPORTED, USAGE
from app.commands import CommandError
from app.export.picture import ExportError
from app.runs.opening import USER_ERRORS
from app.runs.values import ValuesError
from app.version import VERSION
from engine.progress import Cancelled
from engine.run import ProgramDeadlock
from lowering.errors import UnsupportedOpError
from lowering.stages.plan import DoesNotFit
from lowering.yaml_file import YamlFileError


class UsageError(ValueError):
    """Options that contradict each other or make no sense."""


_USAGE = (*USER_ERRORS, ValuesError, CommandError, ExportError, YamlFileError, UsageError)


def exit_code(error: Exception, words: Sequence[str]) -> int:
    """Print what went wrong and return the exit code."""
    if isinstance(error, Cancelled):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, _USAGE):
        print(f"waferscope: {error}", file=sys.stderr)
        if isinstance(error, UnsupportedOpError):
            return UNSUPPORTED
        return DOES_NOT_FIT if isinstance(error, (DoesNotFit, ProgramDeadlock)) else USAGE
    place = _write_report(error, words)
    print(
        f"waferscope: internal fault, {type(error).__name__}: {error}\n"
        f"This is a bug of Waferscope. A report is in {place}; please send it along.",
        file=sys.stderr,
    )
    return INTERNAL


def _write_report(error: Exception, words: Sequence[str]) -> str:
    lines = [
        f"waferscope {VERSION}, Python {platform.python_version()}, {platform.platform()}",
        "command: waferscope " + " ".join(words),
        "",
        *traceback.format_exception(error),
    ]
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="waferscope-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as stream:
            stream.write("\n".join(lines))
            return str(Path(stream.name))
    except OSError:
        sys.stderr.write("\n".join(lines) + "\n")
        return "the lines above (no file could be written)"
