"""From breakpoints and a run to their view. A pure function; no screen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.runs.run import Run
from app.views.breaks import BreakRow, BreaksView
from app.watch.breaks import Breakpoint, Hit, problem, static_kernels, turned
from app.watch.quantities import NAMES
from app.watch.stops import view_stop


def view_breaks(run: Run, breaks: Sequence[Breakpoint], step: int, hit: Hit | None) -> BreaksView:
    """Return all breakpoints as they stand around a step, and why the run stopped last."""
    rows = tuple(_row(run, item, step) for item in breaks)
    stop = None if hit is None else view_stop(run, hit)
    if stop is not None:
        sentence = stop.sentence
    elif rows:
        on = sum(row.enabled for row in rows)
        sentence = f"{len(rows)} breakpoint(s), {on} enabled"
    else:
        sentence = "no breakpoint or watchpoint; 'break' and 'watch' set one"
    names = tuple((name.id, f"{name.help} [{name.kind}]") for name in NAMES.values())
    return BreaksView(rows, stop, names, run.standing, sentence)


def _row(run: Run, item: Breakpoint, step: int) -> BreakRow:
    note = problem(run, item)
    steps = np.zeros(0, np.int64)
    if not note and item.condition.is_static:
        note = static_note(run, item)
    elif not note:
        steps = turned(run, item.condition).steps
    after, before = steps[steps > step], steps[steps < step]
    return BreakRow(
        id=item.id, kind=item.kind, condition=item.condition.text, enabled=item.enabled,
        once=item.once, ignore=item.ignore, hits=item.hits, stops=len(steps),
        next_step=int(after[0]) if len(after) else None,
        last_step=int(before[-1]) if len(before) else None, note=note,
    )  # fmt: skip


def static_note(run: Run, item: Breakpoint) -> str:
    """Say what the compile decided about a condition that no step changes."""
    rows = static_kernels(run, item.condition)
    if not rows:
        return "decided at compile: true nowhere"
    names = ", ".join(run.program.kernels[row].id for row in rows[:8])
    more = f" and {len(rows) - 8} more" if len(rows) > 8 else ""
    return f"decided at compile, true in every step for {names}{more}"
