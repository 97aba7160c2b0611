"""The hottest links and ramps, and who sends over them: a rule of its own. Knows no screen.

Over the run load is wavelets a cycle of the makespan; in a step it is the rate, which is constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.finding.decisions import end_name
from app.finding.link_loads import FlowTable, add_part, flow_table, meets, words_at
from app.runs.run import Run
from app.units import percent
from engine.geometry import Rect
from engine.metrics import LINK_PLANES, PLANES
from engine.traffic import Flow

COUNT = 10
"""links kept"""
HOT_LINK = 0.9
"""wavelets a cycle from which every screen calls a link hot; our choice"""
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
    places = {place for plane in planes for place in _candidates(table, plane, weights)}
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
    places = {found for plane in planes for found in _candidates(table, plane, weights)}
    for _, row, col, plane in sorted(places, key=_heat):
        link = _hot_link(run, table, weights, row, col, plane, step)
        if kernel is None or any(_belongs(run, sender, kernel) for sender in link.senders):
            return link
    return None


def _belongs(run: Run, sender: Sender, kernel: str) -> bool:
    if sender.is_kernel:
        return sender.flow == kernel
    transfer = next(t for t in run.program.transfers if t.id == sender.flow)
    return kernel in (transfer.producer, *transfer.consumers)


def _weights(run: Run, table: FlowTable, step: int | None) -> np.ndarray:
    """Return what a pattern word of each flow loads its link with, wavelets a cycle, (flows,)."""
    units = np.array([flow.unit for flow in table.flows], np.float64)
    if step is not None:
        return np.asarray(table.rates[:, step] / units) if len(units) else units
    traffic = run.execution.fields.traffic
    total = np.array([float(traffic.amounts(flow)[-1]) for flow in table.flows])
    return np.asarray(total / units / max(1, run.timeline.makespan)) if len(units) else units


def _candidates(table: FlowTable, plane: str, weights: np.ndarray) -> set[_Place]:
    """Return the hottest place on each moving pattern of a plane, all patterns summed."""
    flows = table.planes[plane].flows
    patterns = [
        (pattern, float(weights[flow]))
        for flow, mine in zip(flows, table.planes[plane].patterns, strict=True)
        if weights[flow] > 0
        for pattern in mine
    ]
    boxes = np.array([pattern.rect for pattern, _ in patterns]).reshape(-1, 4)
    places = set()
    for box in boxes:
        area = Rect(int(box[0]), int(box[1]), int(box[2] - box[0]), int(box[3] - box[1]))
        window = np.zeros((area.rows, area.cols))
        for other in np.flatnonzero(meets(boxes, box)):
            add_part(window, area, *patterns[other])
        row, col = divmod(int(window.argmax()), area.cols)
        places.add((float(window[row, col]), area.row + row, area.col + col, plane))
    return places


def _hot_link(
    run: Run, table: FlowTable, weights: np.ndarray, row: int, col: int, plane: str,
    step: int | None,
) -> HotLink:  # fmt: skip
    part = table.planes[plane]
    loads = []
    for index, patterns in zip(part.flows, part.patterns, strict=True):
        words = sum(words_at(pattern, row, col) for pattern in patterns)
        if words and weights[index] > 0:
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
    transfer = run.program.transfers[flow.index]
    return f"{end_name(transfer.producer)} to {', '.join(map(end_name, transfer.consumers))}"
