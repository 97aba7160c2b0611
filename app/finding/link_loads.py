"""How loaded links are in every step, without painting every step.

A flow's own peak bounds its hottest link from below, the peaks of all flows that touch the same
links bound it from above; only where a limit lies between the two is the rectangle summed up.
Rates are those of the timeline, constant inside a step. Knows no conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from app.runs.run import Run
from engine.geometry import Rect
from engine.metrics import LINK_PLANES, RAMP_PLANES
from engine.timing.net import RATE_UNIT
from engine.traffic import Flow
from engine.transfers import Pattern

_EXACT = 1e-6
"""loads nearer to a limit than this, in wavelets a cycle, are equal to it"""
_KEPT = 2
"""runs whose tables are kept"""


@dataclass(frozen=True, slots=True, eq=False)
class _Plane:
    """The flows of one plane."""

    flows: np.ndarray
    """int64 (n,) indices in `FlowTable.flows`"""
    units: np.ndarray
    """float64 (n,) what the words of a flow's patterns are divided by for their load at rate 1"""
    least: np.ndarray
    """float32 (n,) load on the flow's busiest link at rate 1: one of its patterns alone"""
    most: np.ndarray
    """float32 (n,) the same with all its patterns that may lie on each other"""
    touches: np.ndarray
    """bool (n, n) True where two flows share a PE's link; never with itself"""
    patterns: tuple[tuple[Pattern, ...], ...]
    """of each flow"""


@dataclass(frozen=True, slots=True, eq=False)
class FlowTable:
    """The rates of all flows in all steps of a run."""

    flows: tuple[Flow, ...]
    rates: np.ndarray
    """float32 (flows, steps) wavelets a cycle on a flow's busiest link; kernels: 1 while running"""
    planes: dict[str, _Plane]

    def exceeds(self, planes: tuple[str, ...], limit: float, *, or_equal: bool) -> np.ndarray:
        """Tell in which steps a link of each flow is loaded above a limit, bool (flows, steps)."""
        found = np.zeros(self.rates.shape, bool)
        edge = limit - _EXACT if or_equal else limit + _EXACT
        for plane in planes:
            table = self.planes.get(plane)
            if table is not None:
                for place, flow in enumerate(table.flows):
                    found[flow] |= self._flow_exceeds(table, place, edge)
        return found

    def _flow_exceeds(self, plane: _Plane, place: int, edge: float) -> np.ndarray:
        """Tell in which steps a link of one flow (its place on the plane) is above the edge."""
        own = self.rates[plane.flows[place]]
        found = np.asarray(own * plane.least[place] > edge)
        others = np.flatnonzero(plane.touches[place])
        bound = own * plane.most[place]
        for other in others:
            bound += self.rates[plane.flows[other]] * plane.most[other]
        steps = np.flatnonzero((bound > edge) & ~found & (own > 0))
        if steps.size:
            together = [*others.tolist(), place]
            cases, which = np.unique(
                self.rates[plane.flows[together]][:, steps], axis=1, return_inverse=True
            )
            hot = [
                _hottest(plane, place, dict(zip(together, case, strict=True))) > edge
                for case in cases.T.tolist()
            ]
            found[steps] = np.array(hot)[which.ravel()]
        return found

    def at(self, row: int, col: int, planes: tuple[str, ...]) -> np.ndarray:
        """Return the highest load of a PE's links in every step, float64 (steps,)."""
        best = np.zeros(self.rates.shape[1])
        for plane in planes:
            table = self.planes.get(plane)
            if table is None:
                continue
            load = np.zeros(self.rates.shape[1])
            for flow, patterns in zip(table.flows, table.patterns, strict=True):
                words = sum(words_at(pattern, row, col) for pattern in patterns)
                if words:
                    load += self.rates[flow] * (words / self.flows[flow].unit)
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
            rates = np.array([_rate(run, flow) for flow in flows], np.float32).reshape(
                len(flows), run.timeline.steps
            )
            planes = {name: _plane(flows, name) for name in (*LINK_PLANES, *RAMP_PLANES)}
            known = _KNOWN[run] = FlowTable(flows, rates, planes)
            for old in list(_KNOWN)[:-_KEPT]:
                del _KNOWN[old]
        return known


def _rate(run: Run, flow: Flow) -> np.ndarray:
    """Return a flow's words on its busiest link a cycle (kernel: running or not), by step."""
    timeline = run.timeline
    if flow.is_kernel:
        ran = np.diff(run.execution.fields.tables.run.row(flow.index))
        return np.asarray(ran / np.diff(timeline.times))
    low, high = timeline.segment_start[flow.index : flow.index + 2]
    begin = timeline.times[:-1]
    if low == high:
        return np.zeros(len(begin))
    last = np.searchsorted(timeline.segment_t0[low:high], begin, side="right") - 1
    at = low + np.maximum(last, 0)
    moves = (last >= 0) & (begin < timeline.segment_t1[at])
    return np.where(moves, timeline.segment_rate[at] / RATE_UNIT, 0.0)


def _plane(flows: tuple[Flow, ...], plane: str) -> _Plane:
    used, patterns = [], []
    for index, flow in enumerate(flows):
        mine = tuple(pattern for pattern in flow.patterns if pattern.plane == plane)
        if mine:
            used.append(index)
            patterns.append(mine)
    units = np.array([flows[index].unit for index in used], np.float64)
    least = np.array([max(int(p.words.max()) for p in mine) for mine in patterns]) / units
    most = np.array([_most_words(mine) for mine in patterns]) / units
    least, most = least.astype(np.float32), most.astype(np.float32)
    return _Plane(
        np.array(used, np.int64), units, least, most, _touches(patterns), tuple(patterns)
    )  # fmt: skip


def _most_words(patterns: tuple[Pattern, ...]) -> int:
    """Bound the words of a flow on one link; its own patterns may lie on each other."""
    boxes = np.array([pattern.rect for pattern in patterns])
    most = [int(pattern.words.max()) for pattern in patterns]
    return max(
        sum(words for words, hit in zip(most, meets(boxes, box), strict=True) if hit)
        for box in boxes
    )


def meets(boxes: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Tell which rectangles (row, col, end row, end col) share a PE with one, bool (n,)."""
    return np.asarray(
        (boxes[:, 0] < box[2]) & (box[0] < boxes[:, 2])
        & (boxes[:, 1] < box[3]) & (box[1] < boxes[:, 3])
    )  # fmt: skip


def _touches(patterns: list[tuple[Pattern, ...]]) -> np.ndarray:
    owner = np.array([i for i, mine in enumerate(patterns) for _ in mine], np.int64)
    boxes = np.array([p.rect for mine in patterns for p in mine]).reshape(-1, 4)
    found = np.zeros((len(patterns), len(patterns)), bool)
    for index, box in zip(owner, boxes, strict=True):
        found[index, owner[meets(boxes, box)]] = True
    np.fill_diagonal(found, False)
    return found


def _hottest(plane: _Plane, flow: int, rates: dict[int, float]) -> float:
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
