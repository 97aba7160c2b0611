"""Conditions over a whole run: where each is true, and where it turned true. Knows no screen.

Worked out for all steps at once from series and bounds, one row a kernel; no step is painted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from app.commands import CommandError
from app.finding.decisions import kernels_of
from app.finding.link_loads import flow_table
from app.nearest import hint
from app.runs import series
from app.runs.run import Run
from app.watch.expr import parse_expression
from app.watch.expr_tree import Both, Compare, Flag, Node, Not, Quantity, quantities
from app.watch.quantities import NAMES
from app.watch.value_ranges import Ranges, ranges, true_after
from engine.causes import CAUSES
from engine.geometry import Rect
from engine.metrics import LINK_PLANES, RAMP_PLANES

BLOCK_CELLS = 1 << 23
"""kernels x steps judged at a time: 64 MB a quantity"""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as written and as read."""

    text: str
    node: Node

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; ExpressionError where it cannot be read."""
        return cls(text, parse_expression(text, NAMES))

    @property
    def is_static(self) -> bool:
        """True when it was decided at compile: the same in every step"""
        return all(NAMES[q.name].is_static for q in quantities(self.node))

    @property
    def names(self) -> tuple[str, ...]:
        """the names it uses, in reading order"""
        return tuple(dict.fromkeys(q.name for q in quantities(self.node)))


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """Where a condition becomes true: pairs of a step and a kernel, by step."""

    step: np.ndarray
    """int64 (pairs,)"""
    row: np.ndarray
    """int64 (pairs,) kernel, or 0 where the condition is the same for all"""
    by_kernel: bool
    """False where the condition speaks of no kernel"""

    @property
    def steps(self) -> np.ndarray:
        """steps in which it turns true for any, rising"""
        return np.unique(self.step)

    def kernels(self, step: int) -> tuple[int, ...]:
        """Return the kernels for which it turns true in a step; empty if it speaks of none."""
        mine = slice(*np.searchsorted(self.step, (step, step + 1)))
        return tuple(self.row[mine].tolist()) if self.by_kernel else ()


def holds(run: Run, condition: Condition) -> np.ndarray:
    """Tell where a condition is true, bool (kernels or 1, steps).

    Raises:
        CommandError: a place or a tensor that the run does not have, or no values.
    """
    found = [judge.node(condition.node) for judge in _blocks(run)]
    return found[0] if len(found[0]) == 1 else np.concatenate(found)


def turns_true(run: Run, condition: Condition) -> Turned:
    """Tell where a condition becomes true; each kernel on its own.

    What happens at a moment (a start, an end) turns true each time it happens.
    """
    is_event = any(NAMES[name].is_event for name in condition.names)
    steps, rows = [], []
    for judge in _blocks(run):
        now = judge.node(condition.node)
        before = np.zeros_like(now)
        before[:, 1:] = now[:, :-1]
        if is_event:
            before &= replace(judge, events=False).node(condition.node)
        row, step = np.nonzero(now & ~before)
        by_kernel = len(now) > 1 or len(run.program.kernels) == 1
        steps.append(step)
        rows.append(row + (judge.rows.start if by_kernel else 0))
        if not by_kernel:
            break
    step, row = np.concatenate(steps), np.concatenate(rows)
    order = np.argsort(step, kind="stable")
    return Turned(step[order], row[order], by_kernel)


def _blocks(run: Run) -> Iterator[_Judge]:
    """Yield what judges one block of kernels after the other: all rows of a deep model at once
    would take gigabytes."""
    count, memo = len(run.program.kernels), _Memo({}, {})
    least = min(count, max(4, BLOCK_CELLS // max(1, run.timeline.steps)))
    cuts = np.linspace(0, count, -(-count // least) + 1).astype(int).tolist()
    for first, end in pairwise(cuts):
        yield _Judge(run, slice(first, end), memo)


@dataclass(frozen=True, slots=True)
class _Memo:
    """What one block worked out and the next ones need too."""

    utilization: dict[Rect, np.ndarray]
    loads: dict[tuple[tuple[str, ...], float, bool], list[tuple[int, np.ndarray]]]


@dataclass(frozen=True, slots=True)
class _Judge:
    """Evaluates nodes over a run, for a block of kernels."""

    run: Run
    rows: slice
    memo: _Memo
    events: bool = True
    """False: as if nothing happened at any moment"""

    def node(self, node: Node) -> np.ndarray:
        """Return where a node is true, broadcast to (kernels or 1, steps)."""
        if isinstance(node, Both):
            left, right = self.node(node.left), self.node(node.right)
            return np.asarray(left & right if node.word == "and" else left | right)
        if isinstance(node, Not):
            return np.asarray(~self.node(node.item))
        found = self._flag(node.quantity) if isinstance(node, Flag) else self._compare(node)
        rows = max(1, found.shape[0])
        return np.broadcast_to(found, (rows, self.run.timeline.steps))

    def _flag(self, quantity: Quantity) -> np.ndarray:
        run = self.run
        if quantity.name in ("nan", "inf"):
            return true_after(
                run, self._ranges(quantity),
                lambda r: r.has_nan if quantity.name == "nan" else r.has_inf, self.rows,
            )  # fmt: skip
        if quantity.name == "running":
            runs = series.cause_codes(run, self.rows) == series.cause_code("running")
            return np.asarray(runs & (series.samples_in_work(run, self.rows) >= 0))
        if not self.events:
            return np.zeros((1, 1), bool)
        timeline = run.timeline
        cycles = timeline.start if quantity.name == "starts" else timeline.end
        return series.moments(run, cycles, self.rows)

    def _compare(self, node: Compare) -> np.ndarray:
        if isinstance(node.right, Quantity):
            return _apply(node.op, self._numbers(node.left), self._numbers(node.right))
        name, value = NAMES[node.left.name], node.right.value
        if name.kind == "text":
            return self._text(node.left, str(value), node.op)
        assert not isinstance(value, str)
        if node.left.name in ("link", "ramp"):
            return self._load(node.left, node.op, value)
        if node.left.name == "value":
            up = node.op in (">", ">=")
            return true_after(
                self.run, self._ranges(node.left),
                lambda r: bool(_apply(node.op, np.float64(r.high if up else r.low), value)),
                self.rows,
            )  # fmt: skip
        if node.left.name == "cycle":
            return self._cycle(node.op, value)
        return _apply(node.op, self._numbers(node.left), value)

    def _text(self, quantity: Quantity, value: str, op: str) -> np.ndarray:
        if quantity.name == "cause":
            known = (*CAUSES, "running")
            if value not in known:
                raise CommandError(f"there is no cause '{value}'{hint(value, known)}")
            found = series.cause_codes(self.run, self.rows) == series.cause_code(value)
        else:
            field = "id" if quantity.name == "kernel" else "family"
            known = tuple(dict.fromkeys(getattr(k, field) for k in self.run.program.kernels))
            if value not in known:
                raise CommandError(f"there is no {quantity.name} '{value}'{hint(value, known)}")
            mine = [getattr(k, field) == value for k in self.run.program.kernels[self.rows]]
            found = np.array(mine, bool)[:, None]
        return np.asarray(found if op == "==" else ~found)

    def _cycle(self, op: str, value: float) -> np.ndarray:
        first, last = self.run.timeline.times[:-1][None], self.run.timeline.times[1:][None] - 1
        if op in ("==", "!="):
            inside = (first <= value) & (value <= last)
            return np.asarray(inside if op == "==" else ~inside)
        return _apply(op, last if op in (">", ">=") else first, value)

    def _load(self, quantity: Quantity, op: str, value: float) -> np.ndarray:
        planes: tuple[str, ...] = LINK_PLANES if quantity.name == "link" else RAMP_PLANES
        table = flow_table(self.run)
        if quantity.place:
            row, col = self._pe(quantity.place)
            if len(quantity.place) == 3:
                plane = str(quantity.place[2])
                if plane not in planes:
                    raise CommandError(f"there is no {quantity.name} '{plane}'"
                                       f"{hint(plane, planes)}")  # fmt: skip
                planes = (plane,)
            return _apply(op, table.at(row, col, planes)[None], value)
        key = planes, value, op in (">=", "<")
        if key not in self.memo.loads:
            self.memo.loads[key] = list(table.exceeding(planes, value, or_equal=key[2]))
        rows = _kernel_rows(self.run, self.memo.loads[key], self.rows)
        return np.asarray(rows if op in (">", ">=") else ~rows)

    def _numbers(self, quantity: Quantity) -> np.ndarray:
        run, place = self.run, quantity.place
        if place:
            return self._placed(quantity)
        regions = [*run.program.regions_of_kernels()][self.rows]
        makers: dict[str, Callable[[], np.ndarray]] = {
            "step": lambda: np.arange(run.timeline.steps)[None],
            "cycle": lambda: run.timeline.times[:-1][None],
            "sample": lambda: series.samples_in_work(run, self.rows),
            "entered": lambda: series.samples_entered(run),
            "waiting": lambda: series.waited(run, self.rows),
            "sram": lambda: run.execution.fields.occupancy.live[regions],
            "allocated": lambda: run.execution.fields.occupancy.allocated[regions, None],
            "utilization": lambda: series.kernel_utilization(run, self.rows, self.memo.utilization),
        }
        return makers[quantity.name]()

    def _placed(self, quantity: Quantity) -> np.ndarray:
        row, col = self._pe(quantity.place)
        if quantity.name == "utilization":
            size = [int(side) for side in quantity.place[2:]] or [1, 1]
            if min(size) < 1:
                raise CommandError(f"a region of {size[0]}x{size[1]} PEs is empty")
            self._pe((row + size[0] - 1, col + size[1] - 1))
            return series.region_utilization(self.run, Rect(row, col, size[0], size[1]))[None]
        occupancy = self.run.execution.fields.occupancy
        region = self.run.execution.fields.region_at(row, col)
        if region is None:
            return np.zeros((1, 1))
        live = quantity.name == "sram"
        return np.atleast_2d(occupancy.live[region] if live else occupancy.allocated[region])

    def _ranges(self, quantity: Quantity) -> Ranges:
        return ranges(self.run, quantity.name, str(quantity.place[0]) if quantity.place else "")

    def _pe(self, place: tuple[int | str, ...]) -> tuple[int, int]:
        row, col = int(place[0]), int(place[1])
        rows, cols = self.run.grid
        if row >= rows or col >= cols:
            raise CommandError(f"PE ({row}, {col}) lies outside the mesh of {rows}x{cols} PEs")
        return row, col


def _kernel_rows(run: Run, found: Iterable[tuple[int, np.ndarray]], block: slice) -> np.ndarray:
    """Return (kernels of a block, steps) from (flow, its steps): a kernel has its own flows and
    its transfers."""
    index = {kernel.id: i for i, kernel in enumerate(run.program.kernels[block])}
    rows = np.zeros((len(index), run.timeline.steps), bool)
    flows = flow_table(run).flows
    for flow, steps in found:
        for name in kernels_of(run, flows[flow]):
            if name in index:
                rows[index[name], steps] = True
    return rows


def _apply(op: str, left: np.ndarray | np.float64, right: np.ndarray | float) -> np.ndarray:
    compare: dict[str, np.ufunc] = {
        "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
        ">": np.greater, ">=": np.greater_equal,
    }  # fmt: skip
    return np.asarray(compare[op](left, right))
