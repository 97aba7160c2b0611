"""Breakpoints, explanations and hot links in a session: the part that answers why.

Each verb asks a pure function and keeps the answer. Knows no screen.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.commands import CommandError
from app.finding import decisions
from app.finding.explain import explain
from app.runs.run import Run
from app.session.advising import AdviceVerbs
from app.session.cursor import Cursor, Move, Selection
from app.session.places import reveal, select_pe
from app.views.base import View
from app.views.bottleneck import BottleneckView
from app.views.breaks import BreaksView
from app.views.build_bottleneck import view_bottleneck
from app.views.build_breaks import view_breaks
from app.views.build_hot import view_hot
from app.views.explain import ExplainView
from app.views.hot import HotView
from app.views.map import HitMark
from app.watch.breaks import (
    Breakpoint,
    Hit,
    break_text,
    check,
    find,
    find_stop,
    hit_at,
    static_kernels,
    watch_text,
)
from app.watch.conditions import Condition
from app.watch.stops import view_stop
from lowering.cache import StageCache

PAGES = ("breaks", "hot", "why", "advice", "bottleneck")
"""names of the views that `view_page` gives"""


class DebugVerbs(AdviceVerbs):
    """Adds breakpoints, run and reverse, explain, hot links and the bottleneck."""

    def __init__(self, run: Run, cursor: Cursor | None, cache: StageCache | None) -> None:
        super().__init__(run, cursor, cache)
        self._breaks: tuple[Breakpoint, ...] = ()
        self._numbers = itertools.count(1)
        self._hit: tuple[int, Hit] | None = None
        self._mark: HitMark | None = None
        self._target: tuple[str, Selection] | None = None

    # -- breakpoints ---------------------------------------------------------------------------

    def add_break(self, text: str = "") -> Breakpoint:
        """Set a breakpoint: a step, cycle, sample, kernel or condition; nothing: here."""
        with self._lock:
            return self._add("break", break_text(self.run, self._cursor, text))

    def add_watch(self, text: str = "") -> Breakpoint:
        """Watch a condition; nothing: what the map shows of the selected PE."""
        with self._lock:
            return self._add("watch", watch_text(self.run, self._cursor, text))

    def _add(self, kind: str, text: str) -> Breakpoint:
        item = Breakpoint(next(self._numbers), kind, check(self.run, text))
        self._breaks = (*self._breaks, item)
        self._say(f"{kind} {item.id}: {text}{self._told(item.condition)}")
        return item

    def _told(self, condition: Condition) -> str:
        """Answer at once where the compile decided: no step changes it."""
        if not condition.is_static:
            return ""
        rows = static_kernels(self.run, condition)
        if not rows:
            return "; decided at compile: true nowhere"
        kernels = [self.run.program.kernels[row] for row in rows]
        more = f" (and {len(rows) - 1} more kernels)" if len(rows) > 1 else ""
        return f"; {decisions.memory_decision(self.run, kernels[0]).sentence}{more}"

    def delete_break(self, number: int) -> None:
        """Forget a breakpoint."""
        with self._lock:
            item = find(self._breaks, number)
            self._breaks = tuple(other for other in self._breaks if other.id != number)
            self._say(f"{item.kind} {number} is gone")

    def enable_break(self, number: int) -> None:
        """Let a breakpoint stop runs again."""
        self._change(number, lambda item: replace(item, enabled=True), "is on")

    def disable_break(self, number: int) -> None:
        """Keep a breakpoint but let it stop nothing."""
        self._change(number, lambda item: replace(item, enabled=False), "is off")

    def once_break(self, number: int) -> None:
        """Let a breakpoint stop one run and go."""
        self._change(number, lambda item: replace(item, once=True), "stops once")

    def ignore_break(self, number: int, count: int) -> None:
        """Pass over a breakpoint `count` times before it stops a run."""
        if count < 0:
            raise CommandError(f"the count is {count}, must be 0 or more")
        self._change(
            number, lambda item: replace(item, ignore=count), f"is passed over {count} time(s)"
        )

    def _change(self, number: int, change: Callable[[Breakpoint], Breakpoint], what: str) -> None:
        with self._lock:
            changed = change(find(self._breaks, number))
            self._breaks = tuple(changed if b.id == number else b for b in self._breaks)
            self._say(f"{changed.kind} {number} {what}")

    def run_until(self, condition: str = "") -> Cursor:
        """Go to the next step where a breakpoint, or a condition given once, turns true."""
        return self._travel_to(condition, 1)

    def reverse_until(self, condition: str = "") -> Cursor:
        """Go back to the last step where a breakpoint, or a condition given once, turned true."""
        return self._travel_to(condition, -1)

    def _travel_to(self, text: str, direction: int) -> Cursor:
        with self._lock:
            run, cursor = self.run, self._cursor
            if text.strip():
                wanted = check(run, break_text(run, cursor, watch_text(run, cursor, text)))
                looked_for: tuple[Breakpoint, ...] = (Breakpoint(0, "watch", wanted),)
                hit, _ = find_stop(run, looked_for, cursor.step, direction)
            elif not any(item.enabled for item in self._breaks):
                raise CommandError("no breakpoint is on; 'break' and 'watch' set one")
            else:
                looked_for = tuple(item for item in self._breaks if item.enabled)
                hit, self._breaks = find_stop(run, self._breaks, cursor.step, direction)
            if hit is None:
                return self._go(self._end(text.strip(), looked_for, direction))
            return self._stop_at(hit)

    def _end(self, text: str, looked_for: Sequence[Breakpoint], direction: int) -> Move:
        run, step = self.run, self._cursor.step
        last = run.timeline.steps - 1 if direction > 0 else 0
        what = f"'{text}' does not turn true" if text else "no breakpoint turns true"
        side, end = ("after", "end") if direction > 0 else ("before", "start")
        told = "".join(self._told(item.condition) for item in looked_for)
        return Move(self._cursor.at(last), f"{what} {side} step {step}: this is the {end} of the "
                                           f"run{told}")  # fmt: skip

    def _stop_at(self, hit: Hit) -> Cursor:
        run = self.run
        self._hit = run.id, hit
        stop = view_stop(run, hit)
        cursor = self._cursor.at(hit.step)
        self._mark = HitMark(*stop.pe, stop.plane, stop.sentence) if stop.pe else None
        if stop.pe is not None:
            cursor = reveal(run, select_pe(run, cursor, *stop.pe)).cursor
        return self._go(Move(cursor, stop.sentence))

    def hit_mark(self) -> HitMark | None:
        """Return where a breakpoint stopped the run, while the step it stopped in is shown."""
        with self._lock:
            if self._hit is None or self._hit[0] != self.run.id:
                return None
            return self._mark if self._hit[1].step == self._cursor.step else None

    # -- why -----------------------------------------------------------------------------------

    def explain(self, target: str = "") -> ExplainView:
        """Explain `pe R,C`, `link R,C PLANE`, `kernel NAME`, `step [N]`; nothing: the selection."""
        with self._lock:
            view = explain(self.run, self._cursor, target)
            self._target = target, self._cursor.selection
            self._say(view.sentence)
            return view

    def view_explain(self, target: str | None = None) -> ExplainView:
        """Return the explanation of a target.

        None: of the one explained last while the selection stays, then of the selection.
        """
        with self._lock:
            run, cursor, last = self.run, self._cursor, self._target
        stays = last is not None and last[1] == cursor.selection
        wanted = target if target is not None else last[0] if last is not None and stays else ""
        try:
            return explain(run, cursor, wanted)
        except CommandError:
            if target is not None:
                raise
            return explain(run, cursor, "")

    def find_hot(self, scope: str = "run") -> HotView:
        """Return the hottest links and ramps of the run, or of the step shown ('step')."""
        with self._lock:
            run, cursor = self.run, self._cursor
        return view_hot(run, cursor.step if scope == "step" else None)

    def view_bottleneck(self) -> BottleneckView:
        """Return what the makespan is made of, and its lower bound."""
        return view_bottleneck(self.run)

    def view_breaks(self) -> BreaksView:
        """Return all breakpoints, and why the run stopped last."""
        with self._lock:
            run, cursor, breaks = self.run, self._cursor, self._breaks
            hit = self._hit[1] if self._hit and self._hit[0] == run.id else None
        if hit is not None and hit.step < run.timeline.steps:
            hit = hit_at(run, hit.condition, hit.step, hit.id)
        return view_breaks(run, breaks, cursor.step, hit)

    def view_page(self, name: str) -> View:
        """Return one of PAGES by name."""
        makers: dict[str, Callable[[], View]] = {
            "breaks": self.view_breaks, "hot": self.find_hot, "why": self.view_explain,
            "advice": self.view_advice, "bottleneck": self.view_bottleneck,
        }  # fmt: skip
        return makers[name]()
