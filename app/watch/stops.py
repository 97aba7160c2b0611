"""Why a run stopped: the PE, the kernel, the quantities before and now, the decisions behind.

Reads hits, series and decisions; decides nothing about what is true. Knows no screen.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.finding import decisions
from app.finding.decisions import Decision
from app.finding.hot_links import HotLink, hottest_now
from app.runs import series
from app.runs.run import Run
from app.units import count, percent, size
from app.views.breaks import ChainRow, StopView
from app.watch.breaks import Hit
from app.watch.expr_tree import Quantity, comparisons, quantities
from app.watch.locating import find_element
from engine.causes import CAUSES
from engine.metrics import LINK_PLANES, RAMP_PLANES
from engine.program import Kernel, Transfer
from engine.steps import RUNNING


@dataclass(frozen=True, slots=True)
class _Found:
    """What one quantity of a condition says."""

    evidence: str
    decisions: tuple[Decision, ...] = ()
    pe: tuple[int, int] | None = None
    plane: str = ""
    """link or ramp of the PE, empty for none"""


def view_stop(run: Run, hit: Hit) -> StopView:
    """Return a hit with its evidence and the chain behind it."""
    kernels = [run.program.kernels[row] for row in hit.rows]
    parts = quantities(hit.condition.node)
    ops = comparisons(hit.condition.node)
    kernel = kernels[0] if kernels else _kernel_of(run, parts)
    found = [
        f for q in parts if (f := _explain(run, hit.step, q, kernel, ops.get(q, ""))) is not None
    ]
    if kernel is None:
        kernel = next((_at(run, f.pe) for f in found if f.pe and _at(run, f.pe)), None)
    pe, plane = next(((f.pe, f.plane) for f in found if f.pe), (None, ""))
    by_value = any(part.name in ("value", "nan", "inf") for part in parts)
    if pe is None and kernel is not None and not by_value:
        pe = kernel.region.row, kernel.region.col
    steps = [d for f in found for d in f.decisions]
    if kernel is not None:
        steps += decisions.chain(run, kernel)
    rows = tuple(dict.fromkeys(ChainRow(d.level, d.name, d.sentence) for d in steps))
    evidence = tuple(dict.fromkeys(f.evidence for f in found))
    name = kernel.id if kernel else None
    return StopView(
        id=hit.id, condition=hit.condition.text, step=hit.step,
        cycle=run.step_bounds(hit.step)[0], pe=pe, plane=plane, kernel=name,
        also=tuple(k.id for k in kernels[1:]), evidence=evidence, chain=rows,
        standing=run.standing, sentence=_sentence(run, hit, name, pe, evidence),
    )  # fmt: skip


def _sentence(
    run: Run, hit: Hit, kernel: str | None, pe: tuple[int, int] | None, evidence: tuple[str, ...]
) -> str:
    who = f"breakpoint {hit.id}" if hit.id else "the condition"
    where = f" in {kernel}" if kernel else ""
    where += f" at PE ({pe[0]}, {pe[1]})" if pe else ""
    why = f": {evidence[0]}" if evidence else ""
    return (
        f"{who} ({hit.condition.text}) turned true{where}, step {hit.step}, "
        f"cycle {run.step_bounds(hit.step)[0]:,}{why}"
    )


def _kernel_of(run: Run, parts: tuple[Quantity, ...]) -> Kernel | None:
    """Return the kernel that a condition's places lie in or that writes its tensor."""
    for part in parts:
        if len(part.place) in (2, 3, 4) and (found := _at(run, part.place)):
            return found
        if len(part.place) == 1:
            return next((k for k in run.program.kernels if part.place[0] in k.writes), None)
    return None


def _at(run: Run, place: tuple[int | str, ...]) -> Kernel | None:
    row, col = int(place[0]), int(place[1])
    return next((k for k in run.program.kernels if k.region.contains(row, col)), None)


def _explain(run: Run, step: int, part: Quantity, kernel: Kernel | None, op: str) -> _Found | None:
    if part.name in ("link", "ramp"):
        return _link(run, step, part, kernel)
    if part.name in ("starts", "ends", "step", "cycle", "entered"):
        return _Found(run.label(step))
    if kernel is None:
        return None
    index = run.program.kernels.index(kernel)
    if part.name == "sram":
        return _sram(run, step, index, part)
    if part.name == "allocated":
        found = decisions.memory_decision(run, kernel)
        return _Found(f"{kernel.id} was given {_bytes(run, index)}", (found,))
    if part.name in ("waiting", "cause", "running"):
        return _wait(run, step, index)
    if part.name == "utilization":
        now = series.region_utilization(run, kernel.region)[step]
        code = int(run.execution.fields.tables.idle[_region(run, index), step])
        why = "its instance runs" if code == RUNNING else f"its region waits: {CAUSES[code]}"
        return _Found(f"utilization of {kernel.id}'s region is {percent(float(now))}; {why}")
    if part.name in ("value", "nan", "inf"):
        return _values(run, step, index, part, op)
    return None


def _region(run: Run, index: int) -> int:
    return run.program.regions_of_kernels()[index]


def _bytes(run: Run, index: int) -> str:
    return size(int(run.execution.fields.occupancy.allocated[_region(run, index)]))


def _sram(run: Run, step: int, index: int, part: Quantity) -> _Found:
    """Name the buffer that grew, else the largest one that is live."""
    kernel, occupancy = run.program.kernels[index], run.execution.fields.occupancy
    region = _region(run, index)
    now = {(u.kernel, u.role, u.name): u.live for u in occupancy.uses(region, step)}
    earlier = occupancy.uses(region, step - 1) if step else ()
    before = {(u.kernel, u.role, u.name): u.live for u in earlier}
    grown = {key: live - before.get(key, 0) for key, live in now.items()}
    key = max(now, key=lambda k: (grown[k], now[k]) if step else (0, now[k]))
    was = f" (was {count(int(occupancy.live[region, step - 1]))} B)" if step else ""
    change = f"grew by {count(grown[key])} B" if step and grown[key] > 0 else "holds most"
    owner = "" if key[0] == kernel.id else f" of {key[0]}"
    text = (
        f"{count(int(occupancy.live[region, step]))} B live on {kernel.id}'s fullest PE{was}; "
        f"{key[1]} '{key[2]}'{owner} {change} to {count(now[key])} B"
    )
    held = next(b for b in run.program.buffers if (b.kernel, b.role, b.name) == key)
    routes = tuple(decisions.route(t) for t in decisions.transfers_of(run, held))
    place = part.place or (kernel.region.row, kernel.region.col)
    return _Found(text, (decisions.buffer(run, held), *routes), (int(place[0]), int(place[1])))


def _link(run: Run, step: int, part: Quantity, kernel: Kernel | None) -> _Found | None:
    planes: tuple[str, ...] = LINK_PLANES if part.name == "link" else RAMP_PLANES
    if len(part.place) == 3:
        planes = (str(part.place[2]),)
    place = (int(part.place[0]), int(part.place[1])) if part.place else None
    hot = hottest_now(run, step, planes, kernel.id if kernel and not place else None, place)
    if hot is None:
        return None
    return _Found(hot.sentence, senders(run, hot), (hot.row, hot.col), hot.plane)


def senders(run: Run, hot: HotLink) -> tuple[Decision, ...]:
    """Return the routes of what loads a link."""
    return tuple(decisions.flow_route(run, sender.flow) for sender in hot.senders)


def _wait(run: Run, step: int, index: int) -> _Found:
    """Say what a kernel waits for; where kernels take turns, what the next one waits for."""
    kernel, region = run.program.kernels[index], _region(run, index)
    code = int(run.execution.fields.tables.idle[region, step])
    if code == RUNNING:
        return _Found(f"{kernel.id} runs")
    gaps, (start, _) = run.execution.gaps, run.step_bounds(step)
    mine = (gaps.region == region) & (gaps.t0 <= start) & (start < gaps.t1)
    place = int(mine.argmax()) if mine.any() else -1
    if place >= 0 and gaps.kernel[place] >= 0:
        index = int(gaps.kernel[place])
        kernel = run.program.kernels[index]
    text = f"{kernel.id} waits: {CAUSES[code]}"
    if place < 0 or gaps.transfer[place] < 0:
        return _Found(text)
    since = (
        f"{count(int(series.waited(run)[index, step]))} cycles so far, sample "
        f"{int(gaps.sample[place])}"
    )
    if gaps.transfer[place] >= len(run.program.transfers):
        return _Found(f"{text}, for its streamed weights, {since}")
    transfer = run.program.transfers[int(gaps.transfer[place])]
    text += f", for '{transfer.tensor}' {_awaited(transfer)}, {since}"
    return _Found(text, (decisions.route(transfer),))


def _awaited(transfer: Transfer) -> str:
    """Return what about a transfer is waited for: that it has left, or where it comes from."""
    if transfer.leaves:
        return "to leave through the weight ports"
    if transfer.comes_back:
        return "from outside"
    return f"of {decisions.end_name(transfer.producer)}"


def _values(run: Run, step: int, index: int, part: Quantity, op: str) -> _Found:
    """Name the element that stands out and the PE that keeps it."""
    kernel = run.program.kernels[index]
    sample = int(series.samples_done(run)[index, step])
    names = [str(part.place[0])] if part.place else list(kernel.writes)
    ranges = {name: series.value_range(run, name, sample) for name in names}
    told = [
        f"'{name}' holds {held.low:.4g} to {held.high:.4g}"
        + (" and NaN" if held.has_nan else "")
        + (" and infinity" if held.has_inf else "")
        for name, held in ranges.items()
        if held is not None
    ]
    what = part.name if part.name != "value" else "largest" if op in (">", ">=") else "smallest"
    pe = None
    for name in names:
        found = find_element(run, kernel, name, sample, what)
        if found is not None:
            kept = f", kept by PE ({found.pe[0]}, {found.pe[1]})" if found.pe else ""
            told.append(f"{what} of '{name}' at index {found.index}{kept}")
            pe = pe or found.pe
    return _Found(f"{kernel.id} has ended sample {sample}: {'; '.join(told)}", (), pe)
