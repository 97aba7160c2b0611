"""Breakpoints and watchpoints as frozen values, and where the next of them is. Knows no screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from app.commands import CommandError
from app.runs.run import Run
from app.session.cursor import Cursor
from app.session.places import select_kernel
from app.watch.conditions import Condition, Turned, holds, turns_true


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A place in time, or a state, at which a run stops."""

    id: int
    kind: str
    """break | watch"""
    condition: Condition
    enabled: bool = True
    once: bool = False
    """True: it is deleted when it has stopped a run"""
    ignore: int = 0
    """times it will still be passed over"""
    hits: int = 0
    """times it turned true under the cursor, ignored ones included"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint that stopped the run."""

    id: int
    """0 for a condition given once"""
    condition: Condition
    step: int
    rows: tuple[int, ...]
    """kernels (their places in the program) for which it turned true; empty: not of a kernel"""


_KEPT = 32
"""conditions of a run whose steps are kept"""
_KNOWN: WeakKeyDictionary[Run, dict[str, Turned]] = WeakKeyDictionary()
_LOCK = Lock()
_HERE = re.compile(r"(?:step\s+)?(\d+)")
_CYCLE = re.compile(r"cycle\s+(\d+)")
_SAMPLE = re.compile(r"sample\s+(\d+)")
_KERNEL = re.compile(r"kernel\s+([^=!<>\s]+)(?:\s+(starts?|ends?))?")


def break_text(run: Run, cursor: Cursor, text: str) -> str:
    """Return the condition that a breakpoint's text means.

    `step 12`, `cycle 500`, `sample 2`, `kernel ffn1 [start|end]`, nothing (the selected kernel's
    start, else the step shown) or a condition.
    """
    wanted = text.strip()
    if not wanted:
        kernel = cursor.selection.kernel
        return f'kernel == "{kernel}" and starts' if kernel else f"step == {cursor.step}"
    if found := _HERE.fullmatch(wanted):
        _need(int(found[1]), run.timeline.steps, "step")
        return f"step == {int(found[1])}"
    if found := _CYCLE.fullmatch(wanted):
        _need(int(found[1]), run.timeline.makespan, "cycle")
        return f"cycle == {int(found[1])}"
    if found := _SAMPLE.fullmatch(wanted):
        _need(int(found[1]), run.program.samples, "sample")
        return f"entered == {int(found[1])}"
    if found := _KERNEL.fullmatch(wanted):
        name = select_kernel(run, cursor, found[1].strip("\"'")).cursor.selection.kernel
        moment = "ends" if (found[2] or "").startswith("end") else "starts"
        return f'kernel == "{name}" and {moment}'
    return wanted


def _need(value: int, most: int, what: str) -> None:
    if value >= most:
        raise CommandError(f"{what} {value} does not exist; the run has {what}s 0..{most - 1}")


def watch_text(run: Run, cursor: Cursor, text: str) -> str:
    """Return the condition that a watchpoint's text means; nothing: what the selected PE shows."""
    wanted = re.sub(r"\bsram\s+(allocated|live)\b", lambda m: {"live": "sram"}.get(m[1], m[1]),
                    text.strip())  # fmt: skip
    if wanted:
        return wanted
    place = cursor.selection.pe
    if place is None:
        raise CommandError(
            "nothing to watch: select a PE first, or give a condition such as 'sram > 46KB'"
        )
    row, col = place
    if cursor.metric.startswith("sram"):
        held = int(run.execution.fields.field("sram_live", cursor.step)[row, col])
        return f"sram({row}, {col}) > {held}"
    if cursor.metric == "traffic" or cursor.metric.startswith("link"):
        return f"link({row}, {col}) >= 90%"
    return f"utilization({row}, {col}) < 20%"


def check(run: Run, text: str) -> Condition:
    """Read a condition and try it on the run; CommandError where it cannot hold."""
    condition = Condition.parse(text)
    turned(run, condition)
    return condition


def turned(run: Run, condition: Condition) -> Turned:
    """Return where a condition turns true, kept for the run."""
    with _LOCK:
        known = _KNOWN.setdefault(run, {})
    found = known.get(condition.text)
    if found is None:
        found = turns_true(run, condition)
        if len(known) >= _KEPT:
            known.clear()
        known[condition.text] = found
    return found


def find_stop(
    run: Run, breaks: Sequence[Breakpoint], step: int, direction: int
) -> tuple[Hit | None, tuple[Breakpoint, ...]]:
    """Return the next (-1: last) hit after (before) a step, and the breakpoints as they are then.

    Ignore counts go down and one-shot breakpoints go away on the way. What was decided at compile
    stops nothing; what the run cannot judge is passed over.
    """
    moments = []
    for item in breaks:
        if item.enabled and not item.condition.is_static and problem(run, item) == "":
            steps = turned(run, item.condition).steps
            wanted = steps[steps > step] if direction > 0 else steps[steps < step]
            moments += [(int(at), item.id) for at in wanted]
    now = {item.id: item for item in breaks}
    for at, number in sorted(moments, key=lambda m: (direction * m[0], m[1])):
        item = now[number]
        if item.ignore:
            now[number] = replace(item, ignore=item.ignore - 1, hits=item.hits + 1)
            continue
        now[number] = replace(item, hits=item.hits + 1)
        if item.once:
            del now[number]
        return hit_at(run, item.condition, at, number), tuple(now.values())
    return None, tuple(now.values())


def hit_at(run: Run, condition: Condition, step: int, number: int = 0) -> Hit:
    """Return the hit of a condition in a step."""
    return Hit(number, condition, step, turned(run, condition).kernels(step))


def problem(run: Run, item: Breakpoint) -> str:
    """Return why a breakpoint cannot be judged on a run, empty when it can."""
    try:
        turned(run, item.condition)
    except CommandError as error:
        return str(error)
    return ""


def static_kernels(run: Run, condition: Condition) -> tuple[int, ...]:
    """Return the kernels for which a condition of the compile is true."""
    found = holds(run, condition)[:, 0]
    if len(found) != len(run.program.kernels):
        return tuple(range(len(run.program.kernels))) if found.all() else ()
    return tuple(int(row) for row in np.flatnonzero(found))


def find(breaks: Sequence[Breakpoint], number: int) -> Breakpoint:
    """Return a breakpoint by its number; CommandError when there is none."""
    for item in breaks:
        if item.id == number:
            return item
    listed = ", ".join(str(item.id) for item in breaks) or "none"
    raise CommandError(f"there is no breakpoint {number}; there are: {listed}")
