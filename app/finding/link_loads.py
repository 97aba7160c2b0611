"""How loaded links are in every step, without painting every step.

A flow's own peak bounds its hottest link from below, the peaks of all flows that touch the same
links bound it from above; only where a limit lies between the two is the rectangle summed up.
Knows no conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from app.finding.flow_rates import Rates, RunRates
from app.runs.run import Run
from engine.geometry import Rect
from engine.traffic import Flow
from engine.transfers import Pattern

_EXACT = 1e-6
"""loads nearer to a limit than this, in wavelets a cycle, are equal to it"""
_KEPT = 2
"""runs whose tables are kept"""


class Plane:
    """The flows of one plane."""

    def __init__(self, flows: Sequence[Flow], plane: str) -> None:
        used, patterns = [], []
        for index, flow in enumerate(flows):
            mine = tuple(pattern for pattern in flow.patterns if pattern.plane == plane)
            if mine:
                used.append(index)
                patterns.append(mine)
        self.flows = np.array(used, np.int64)
        """int64 (n,) indices in `FlowTable.flows`"""
        self.patterns = tuple(patterns)
        """of each flow"""
        self.units = np.array([flows[index].unit for index in used], np.float64)
        """float64 (n,) what a flow's words are divided by for their load at rate 1"""
        self.owner = np.array([i for i, mine in enumerate(patterns) for _ in mine], np.int64)
        """int64 (patterns,) place of the flow that each pattern belongs to"""
        rects = [pattern.rect for mine in patterns for pattern in mine]
        self.boxes = np.array(rects, np.int64).reshape(-1, 4)
        """int64 (patterns, 4) row, col, end row, end col"""
        self._starts = np.searchsorted(self.owner, np.arange(len(used) + 1))

    def least(self, place: int) -> float:
        """Return the load on a flow's busiest link at rate 1: one of its patterns alone."""
        return max(int(p.words.max()) for p in self.patterns[place]) / float(self.units[place])

    def most(self, place: int) -> float:
        """Return the same with all its patterns that may lie on each other."""
        boxes = self.boxes[self._starts[place] : self._starts[place + 1]]
        words = np.array([int(pattern.words.max()) for pattern in self.patterns[place]])
        return max(int(words[meets(boxes, box)].sum()) for box in boxes) / float(self.units[place])

    def meeting(self, place: int, among: np.ndarray) -> np.ndarray:
        """Return the flows, of those `among`, that share a PE's link with one; never itself."""
        chosen = np.flatnonzero(np.isin(self.owner, among[among != place]))
        near = np.zeros(len(chosen), bool)
        for box in self.boxes[self._starts[place] : self._starts[place + 1]]:
            near |= meets(self.boxes[chosen], box)
        return np.unique(self.owner[chosen[near]])

    def over(self, row: int, col: int, among: np.ndarray) -> np.ndarray:
        """Return the flows, of those `among`, that have a pattern over a PE."""
        inside = meets(self.boxes, np.array((row, col, row + 1, col + 1)))
        return np.intersect1d(self.owner[inside], among)


class FlowTable:
    """The rates of all flows in all steps of a run; planes are looked at when asked for."""

    def __init__(self, flows: tuple[Flow, ...], rates: Rates) -> None:
        self.flows = flows
        self.rates = rates
        self._planes: dict[str, Plane] = {}
        self._lock = Lock()

    def plane(self, name: str) -> Plane:
        """Return the flows of a plane."""
        with self._lock:
            if name not in self._planes:
                self._planes[name] = Plane(self.flows, name)
            return self._planes[name]

    def exceeding(
        self, planes: tuple[str, ...], limit: float, *, or_equal: bool
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (flow, steps in which one of its links is loaded above a limit), where there are.

        A flow may come once a plane.
        """
        edge = limit - _EXACT if or_equal else limit + _EXACT
        first, end = self.rates.spans()
        for name in planes:
            plane = self.plane(name)
            begins, ends = first[plane.flows], end[plane.flows]
            for place, flow in enumerate(plane.flows.tolist()):
                together = np.flatnonzero((begins < ends[place]) & (begins[place] < ends))
                span = slice(int(begins[place]), int(ends[place]))
                steps = self._steps_above(plane, place, together, span, edge)
                if steps.size:
                    yield flow, steps

    def _steps_above(
        self, plane: Plane, place: int, together: np.ndarray, span: slice, edge: float
    ) -> np.ndarray:
        """Return the steps of a span in which a link of a flow (its place) is above the edge."""
        own = self.rates.row(int(plane.flows[place]))[span]
        found = np.asarray(own * plane.least(place) > edge)
        others = plane.meeting(place, together)
        rates = {other: self.rates.row(int(plane.flows[other]))[span] for other in others.tolist()}
        bound = own * plane.most(place)
        for other, rate in rates.items():
            bound = bound + rate * plane.most(other)
        unsure = np.flatnonzero((bound > edge) & ~found & (own > 0))
        if unsure.size:
            rates[place] = own
            cases, which = np.unique(
                np.stack([rate[unsure] for rate in rates.values()]), axis=1, return_inverse=True
            )
            hot = [
                _hottest(plane, place, dict(zip(rates, case, strict=True))) > edge
                for case in cases.T.tolist()
            ]
            found[unsure] = np.array(hot)[which.ravel()]
        return np.asarray(np.flatnonzero(found) + span.start)

    def at(self, row: int, col: int, planes: tuple[str, ...]) -> np.ndarray:
        """Return the highest load of a PE's links in every step, float64 (steps,)."""
        best = np.zeros(self.rates.shape[1])
        for name in planes:
            plane = self.plane(name)
            load = np.zeros(self.rates.shape[1])
            for place in plane.over(row, col, np.arange(len(plane.flows))).tolist():
                words = sum(words_at(pattern, row, col) for pattern in plane.patterns[place])
                if words:
                    load += self.rates.row(int(plane.flows[place])) * (words / plane.units[place])
            best = np.maximum(best, load)
        return best


_KNOWN: WeakKeyDictionary[Run, FlowTable] = WeakKeyDictionary()
_LOCK = Lock()


def flow_table(run: Run) -> FlowTable:
    """Return the flows of a run, worked out once."""
    with _LOCK:
        known = _KNOWN.get(run)
        if known is None:
            flows = run.execution.fields.traffic.flows
            known = _KNOWN[run] = FlowTable(flows, RunRates(run, flows))
            for old in list(_KNOWN)[:-_KEPT]:
                del _KNOWN[old]
        return known


def meets(boxes: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Tell which rectangles (row, col, end row, end col) share a PE with one, bool (n,)."""
    return np.asarray(
        (boxes[:, 0] < box[2]) & (box[0] < boxes[:, 2])
        & (boxes[:, 1] < box[3]) & (box[1] < boxes[:, 3])
    )  # fmt: skip


def _hottest(plane: Plane, flow: int, rates: dict[int, float]) -> float:
    """Return the highest load on the links of a flow (its place on the plane), all flows summed."""
    best = 0.0
    for pattern in plane.patterns[flow]:
        row, col, end_row, end_col = pattern.rect
        window = np.zeros((end_row - row, end_col - col))
        for other, rate in rates.items():
            if not rate:
                continue
            share = rate / float(plane.units[other])
            for each in plane.patterns[other]:
                add_part(window, Rect(row, col, end_row - row, end_col - col), each, share)
        best = max(best, float(window.max()))
    return best


def add_part(window: np.ndarray, area: Rect, pattern: Pattern, share: float) -> None:
    """Add a pattern's words x share to the window over an area, in place."""
    row, col, end_row, end_col = pattern.rect
    north, south = max(row, area.row), min(end_row, area.end_row)
    west, east = max(col, area.col), min(end_col, area.end_col)
    if north >= south or west >= east:
        return
    part = window[north - area.row : south - area.row, west - area.col : east - area.col]
    if pattern.axis == "x":
        part += share * pattern.words[west - col : east - col]
    else:
        part += share * pattern.words[north - row : south - row, None]


def words_at(pattern: Pattern, row: int, col: int) -> int:
    """Return the words that a pattern puts on the link of one PE."""
    line, place = (row, col) if pattern.axis == "x" else (col, row)
    if not 0 <= line - pattern.lines_start < pattern.lines:
        return 0
    offset = place - pattern.start
    return int(pattern.words[offset]) if 0 <= offset < len(pattern.words) else 0
