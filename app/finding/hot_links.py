"""The hottest links and ramps, and who sends over them: a rule of its own. Knows no screen.

Over the run load is wavelets a cycle of the makespan; in a step it is the rate, which is constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.finding.decisions import ends_of, flow_ends
from app.finding.link_loads import FlowTable, flow_table, words_at
from app.runs.run import Run
from app.units import percent
from engine.metrics import LINK_PLANES, PLANES
from engine.traffic import Flow
from engine.transfers import Pattern

COUNT = 10
"""links kept"""
HOT_LINK = 0.9
"""wavelets a cycle from which every screen calls a link hot; our choice"""
_DECIMALS = 12
"""of a load"""
_Place = tuple[float, int, int, str]
"""load, row, col, plane"""


@dataclass(frozen=True, slots=True)
class Sender:
    """A flow that loads a link."""

    flow: str
    """transfer id, or kernel id for traffic inside its region"""
    is_kernel: bool
    ends: str
    """such as 'fc0 to fc1'"""
    load: float
    """wavelets a cycle on this link"""
    share: float
    """of the link's load, 0..1"""


@dataclass(frozen=True, slots=True)
class HotLink:
    """A link or ramp that stands out."""

    row: int
    col: int
    plane: str
    """east | west | north | south | inject | deliver"""
    words: int
    """wavelets over the time looked at"""
    load: float
    """wavelets a cycle, 0..1"""
    senders: tuple[Sender, ...]
    """most first"""
    sentence: str


def hot_links(run: Run, step: int | None, planes: tuple[str, ...] = PLANES) -> tuple[HotLink, ...]:
    """Return the ten most loaded links of a step, or of the run; one for each set of senders."""
    table = flow_table(run)
    weights = _weights(run, table, step)
    found: dict[tuple[str, ...], HotLink] = {}
    places = {place for plane in planes for place in _candidates(run, table, plane, weights)}
    for _, row, col, plane in sorted(places, key=_heat):
        hot = _hot_link(run, table, weights, row, col, plane, step)
        kind = "link" if plane in LINK_PLANES else "ramp"
        found.setdefault((kind, *(sender.flow for sender in hot.senders)), hot)
        if len(found) == COUNT:
            break
    return tuple(found.values())


def _heat(place: _Place) -> tuple[float, int, int, str]:
    """Return the order of candidates: the hottest first, ties to the north-west."""
    load, row, col, plane = place
    return -load, row, col, plane


def hottest_now(
    run: Run,
    step: int,
    planes: tuple[str, ...],
    kernel: str | None = None,
    place: tuple[int, int] | None = None,
) -> HotLink | None:
    """Return the most loaded link in a step: of a PE, of what a kernel sends or gets, or of all."""
    table = flow_table(run)
    weights = _weights(run, table, step)
    if place is not None:
        hot = [_hot_link(run, table, weights, *place, plane, step) for plane in planes]
        return max(hot, key=lambda h: (h.load, -planes.index(h.plane)))
    places = {found for plane in planes for found in _candidates(run, table, plane, weights)}
    for _, row, col, plane in sorted(places, key=_heat):
        link = _hot_link(run, table, weights, row, col, plane, step)
        if kernel is None or any(_belongs(run, sender, kernel) for sender in link.senders):
            return link
    return None


def _belongs(run: Run, sender: Sender, kernel: str) -> bool:
    if sender.is_kernel:
        return sender.flow == kernel
    return kernel in flow_ends(run, sender.flow)


def _weights(run: Run, table: FlowTable, step: int | None) -> np.ndarray:
    """Return what a pattern word of each flow loads its link with, wavelets a cycle, (flows,)."""
    units = np.array([flow.unit for flow in table.flows], np.float64)
    if step is not None:
        return np.asarray(table.rates.at(step) / units)
    moved, ran = (part.totals() for part in (run.execution.fields.tables.moved,
                                             run.execution.fields.tables.run))  # fmt: skip
    total = np.array([(ran if f.is_kernel else moved)[f.index] for f in table.flows], np.float64)
    return np.asarray(total / units / max(1, run.timeline.makespan))


def _candidates(run: Run, table: FlowTable, plane: str, weights: np.ndarray) -> set[_Place]:
    """Return the hottest place on each moving pattern of a plane, all patterns summed."""
    part = table.plane(plane)
    moving = [
        (pattern, float(weights[part.flows[place]]))
        for place in np.flatnonzero(weights[part.flows] > 0).tolist()
        for pattern in part.patterns[place]
    ]
    load = _load_map(run.grid, moving)
    places = set()
    for box in dict.fromkeys(pattern.rect for pattern, _ in moving):
        window = load[box[0] : box[2], box[1] : box[3]]
        row, col = divmod(int(window.argmax()), window.shape[1])
        places.add((float(window[row, col]), box[0] + row, box[1] + col, plane))
    return places


def _load_map(grid: tuple[int, int], moving: Sequence[tuple[Pattern, float]]) -> np.ndarray:
    """Return the load of every link of a plane, wavelets a cycle, float64 (rows, cols).

    Loads are sums of differences across lines; rounded, so that equal loads are equal.
    """
    along, down = np.zeros((grid[0] + 1, grid[1])), np.zeros((grid[1] + 1, grid[0]))
    for pattern, weight in moving:
        change = along if pattern.axis == "x" else down
        cut = slice(pattern.start, pattern.start + len(pattern.words))
        change[pattern.lines_start, cut] += weight * pattern.words
        change[pattern.lines_start + pattern.lines, cut] -= weight * pattern.words
    load = np.cumsum(along[:-1], axis=0) + np.cumsum(down[:-1], axis=0).T
    return np.asarray(np.round(load, _DECIMALS))


def _hot_link(
    run: Run, table: FlowTable, weights: np.ndarray, row: int, col: int, plane: str,
    step: int | None,
) -> HotLink:  # fmt: skip
    part = table.plane(plane)
    loads = []
    for place in part.over(row, col, np.flatnonzero(weights[part.flows] > 0)).tolist():
        index = part.flows[place]
        words = sum(words_at(pattern, row, col) for pattern in part.patterns[place])
        if words:
            loads.append((table.flows[index], float(words * weights[index])))
    load = sum(value for _, value in loads)
    loads.sort(key=lambda item: (-item[1], item[0].name))
    senders = tuple(
        Sender(flow.name, flow.is_kernel, _ends(run, flow), value, value / load)
        for flow, value in loads
    )
    begin, end = (0, run.timeline.makespan) if step is None else run.step_bounds(step)
    kind = "link" if plane in LINK_PLANES else "ramp"
    listed = ", ".join(f"{s.ends} {percent(s.share)}" for s in senders[:3])
    more = f" and {len(senders) - 3} more" if len(senders) > 3 else ""
    sentence = (
        f"{kind} {plane} of PE ({row}, {col}) carries {load:.3g} wavelets a cycle "
        f"({percent(load)}): {listed or 'nothing'}{more}"
    )
    words = round(load * (end - begin))
    return HotLink(row, col, plane, words, load, senders, sentence)


def _ends(run: Run, flow: Flow) -> str:
    if flow.is_kernel:
        is_stream = flow.index >= len(run.program.kernels)
        return flow.name if is_stream else f"inside {flow.name}"
    return ends_of(run.program.transfers[flow.index])
