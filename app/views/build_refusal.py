"""From an error of opening to a view of what is wrong and what would help. Knows no screen."""

from __future__ import annotations

from collections.abc import Iterator

from app.views.refusal import RefusalView, RefusedOpRow
from engine.archive import RecordingError
from engine.run import ProgramDeadlock
from lowering.config import KnobError
from lowering.errors import ModelImportError, UnsupportedOp, UnsupportedOpError
from lowering.stages.plan import DoesNotFit

MOST_OPS = 200
"""operators listed"""
MOST_NODES = 50
"""nodes named of each operator"""
_MOST_NAME = 120
"""characters shown of a name in a model"""
_KNOBS = (
    "a model is compiled with the knobs of the run shown: change them there, then open it again"
)
_HELPS: tuple[tuple[type[Exception], tuple[str, ...]], ...] = (
    (UnsupportedOpError, (
        "write the nodes in terms of others where the program that made the model exports it",
        "cut the model before these nodes and run them on the host",
    )),
    (ModelImportError, (
        "open dimensions, the task and lengths are given in a terminal: waferscope open FILE "
        "--dim NAME=NUMBER",
        "mend what the sentence names where the file was written, and export it again",
    )),
    (RecordingError, (
        "save the recording again where its run was made (press e, then .wscope); one that was cut "
        "short or changed on its way cannot be mended",
    )),
    (DoesNotFit, (_KNOBS,)),
    (ProgramDeadlock, (_KNOBS,)),
    (KnobError, (_KNOBS,)),
)  # fmt: skip


def view_refusal(what: str, error: Exception, sentence: str) -> RefusalView:
    """Return why `what` was not opened; `sentence` is the error's message as it may be shown."""
    found = error.ops if isinstance(error, UnsupportedOpError) else ()
    head = sentence.splitlines()[0].removesuffix(":") if found else sentence
    rows = tuple(_row(op) for op in found[:MOST_OPS])
    left_off, helps = len(found) - len(rows), _helps(error)
    text = "\n".join(_lines(what, head, rows, left_off, helps))
    return RefusalView(what, head, rows, left_off, helps, text)


def _row(op: UnsupportedOp) -> RefusedOpRow:
    nodes = tuple(_short(name) for name in op.nodes[:MOST_NODES])
    return RefusedOpRow(
        _short(op.op_type), op.count, nodes, op.reason, op.blocked_outputs, op.help
    )  # fmt: skip


def _short(name: str) -> str:
    return name if len(name) <= _MOST_NAME else f"{name[:_MOST_NAME]}..."


def _helps(error: Exception) -> tuple[str, ...]:
    levers = error.finding.levers if isinstance(error, DoesNotFit) else ()
    known = (helps for kind, helps in _HELPS if isinstance(error, kind))
    return (*levers, *next(known, ()))


def _lines(
    what: str, head: str, rows: tuple[RefusedOpRow, ...], left_off: int, helps: tuple[str, ...]
) -> Iterator[str]:
    yield f"{what} was not opened: {head}"
    for row in rows:
        more = f" and {row.count - len(row.nodes)} more" if row.count > len(row.nodes) else ""
        yield f"{row.op} x {row.count}: {row.reason}; blocks outputs: {row.blocked_outputs}"
        yield f"  nodes: {', '.join(row.nodes)}{more}"
        if row.rewrite:
            yield f"  instead: {row.rewrite}"
    if left_off:
        yield f"and {left_off} more operators"
    yield from (f"what helps: {one}" for one in helps)
