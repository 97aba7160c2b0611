"""From a run to its roofline. A pure function; no screen."""

from __future__ import annotations

from math import ceil, floor, log10

from app.finding.intensity import Work, kernel_work, run_work
from app.finding.roofs import Roof, machine_roofs
from app.runs.run import Run
from app.units import count, percent
from app.views.roofline import RooflineView, RoofPoint, RoofRow

_LOWEST = 1e-9
"""smallest figure that an axis shows"""
_ROUNDING = 0.005
"""share by which a rate may pass its roof because cycles are whole"""


def view_roofline(run: Run, selected: str | None = None) -> RooflineView:
    """Return all kernels that compute under the roofs of the machine."""
    roofs = machine_roofs(run)
    works = kernel_work(run)
    kinds = {row.name: row.kind for row in run.compiled.report.rows}
    points = tuple(_point(run, roofs, work, kinds.get(work.kernel, ""))
                   for work in works if work.ops)  # fmt: skip
    whole = _point(run, roofs, run_work(run, works), "whole run") if points else None
    x_decades, y_decades = _decades(roofs, points, whole)
    return RooflineView(
        roofs=tuple(RoofRow(r.name, r.kind, r.ops_per_cycle, r.bytes_per_cycle, r.source)
                    for r in roofs),
        points=points, whole=whole, silent=tuple(work.kernel for work in works if not work.ops),
        selected=selected, x_decades=x_decades, y_decades=y_decades,
        standing=run.standing_of("model: cycles from kernel profiles; bytes exact"),
        sentence=_sentence(points, whole),
    )  # fmt: skip


def _point(run: Run, roofs: tuple[Roof, ...], work: Work, kind: str) -> RoofPoint:
    wavelet = run.machine.wavelet_bytes
    ramp, weight = work.ramp_words * wavelet, work.weight_words * wavelet
    limits = [(limit, roof.name) for roof in roofs
              if (limit := roof.at(work, wavelet)) is not None]  # fmt: skip
    attainable, bound = min(limits, key=lambda limit: limit[0])
    rate = work.ops / (work.cycles * max(1, work.pes))
    inside = work.ops / (work.inside_cycles * max(1, work.pes))
    over_ramps = work.ops / ramp if ramp else None
    over_ports = work.ops / weight if weight else None
    return RoofPoint(
        kernel=work.kernel, kind=kind, pes=work.pes, ops=work.ops, ramp_bytes=ramp,
        weight_bytes=weight, ops_per_byte=over_ramps,
        ops_per_weight_byte=over_ports, x=over_ports if weight else over_ramps,
        x_of="weights" if weight else "ramps", rate=rate, inside_rate=inside,
        attainable=attainable, bound=bound, share=rate / attainable,
        sentence=_told(work, rate, attainable, bound),
    )  # fmt: skip


def _told(work: Work, rate: float, attainable: float, bound: str) -> str:
    allow = "allow" if bound.endswith("s") else "allows"
    text = (
        f"{work.kernel or 'the run'} does {rate:.3g} operations a cycle on each of "
        f"{count(work.pes)} PEs, {percent(rate / attainable)} of the {attainable:.3g} that "
        f"{bound} {allow}"
    )
    early = "; part of what it reads came in during earlier turns"
    return text + early if rate > attainable * (1 + _ROUNDING) else text


def _decades(
    roofs: tuple[Roof, ...], points: tuple[RoofPoint, ...], whole: RoofPoint | None
) -> tuple[tuple[int, int], tuple[int, int]]:
    shown = [*points, whole] if whole else []
    across = [p.x for p in shown if p.x is not None]
    flat = [roof.ops_per_cycle for roof in roofs if roof.ops_per_cycle is not None]
    slopes = [roof.bytes_per_cycle for roof in roofs if roof.bytes_per_cycle is not None]
    across += [min(flat) / slope for slope in slopes]  # where a rising roof meets the lowest flat
    high = [*flat, *(p.inside_rate for p in shown), *(p.rate for p in shown)]
    return _around(across), _around(high)


def _around(values: list[float]) -> tuple[int, int]:
    kept = [max(value, _LOWEST) for value in values]
    low, high = floor(log10(min(kept))), ceil(log10(max(kept)))
    return (low, high) if high > low else (low, low + 1)


def _sentence(points: tuple[RoofPoint, ...], whole: RoofPoint | None) -> str:
    if whole is None:
        return "no kernel computes, so there is nothing to compare with the roofs"
    under = [point for point in points if point.share <= 1 + _ROUNDING]
    best = max(under or points, key=lambda point: point.share)
    return (
        f"{whole.sentence}; nearest to its roof is {best.kernel} with {percent(best.share)} of "
        f"what {best.bound} would give"
    )
