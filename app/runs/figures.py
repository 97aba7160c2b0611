"""A run's headline figures, computed once: what reports, deltas and `--json` print."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np

from app.runs.run import Run
from engine.causes import CAUSES
from engine.metrics import METRICS


@dataclass(frozen=True, slots=True)
class Figures:
    """One run in numbers."""

    makespan: int
    """cycles"""
    steps: int
    samples: int
    throughput: float
    """samples per million cycles of the makespan"""
    pes_used: int
    """working PEs inside a kernel's region"""
    utilization: float
    """compute / (working PEs x makespan), 0..1"""
    efficiency: float
    """operations / (working PEs x makespan x peak of the storage dtype), 0..1"""
    peak_allocated: int
    """bytes on the fullest PE"""
    peak_live: int
    """bytes that hold data at once on one PE, the highest of the run"""
    peak_link: float
    """wavelets a cycle on the busiest link over the run"""
    hottest: tuple[int, int, str] | None
    """(row, col, plane) of that link, None without traffic"""
    causes: tuple[tuple[str, int], ...]
    """(cause, PE-cycles) for all causes in their order, summing to PEs x makespan"""


_KNOWN: WeakKeyDictionary[Run, Figures] = WeakKeyDictionary()
_LOCK = Lock()


def figures(run: Run) -> Figures:
    """Return the headline figures of a run."""
    with _LOCK:
        known = _KNOWN.get(run)
        if known is None:
            known = _KNOWN[run] = _compute(run)
        return known


def _compute(run: Run) -> Figures:
    program, timeline = run.program, run.timeline
    fields = run.execution.fields
    causes = cause_totals(run)
    machine = program.machine
    cycles = max(1, machine.working_pes * timeline.makespan)
    operations = sum(row.ops for row in run.compiled.report.rows) * program.samples
    peak = machine.peak_flops_per_cycle(program.storage)
    hot = fields.hottest(None, 1)
    return Figures(
        makespan=timeline.makespan,
        steps=timeline.steps,
        samples=program.samples,
        throughput=program.samples * 1e6 / max(1, timeline.makespan),
        pes_used=used_pes(run),
        utilization=dict(causes)["compute"] / cycles,
        efficiency=operations / (cycles * peak),
        peak_allocated=int(fields.maximum("sram_allocated").max()),
        peak_live=int(fields.maximum("sram_live").max()),
        peak_link=float(hot[0][4]) if hot else 0.0,
        hottest=(int(hot[0][0]), int(hot[0][1]), str(hot[0][2])) if hot else None,
        causes=causes,
    )


def used_mask(run: Run) -> np.ndarray:
    """Return which working PEs lie in a kernel's region, bool (rows, cols)."""
    mask = np.zeros(run.grid, bool)
    for kernel in run.program.kernels:
        mask[kernel.region.slices()] = True
    for row, col in run.machine.defects:
        mask[row, col] = False
    return mask


def region_mask(run: Run) -> np.ndarray:
    """Return which working PEs lie in a region: a kernel's own, or all on which kernels take turns,
    bool (rows, cols)."""
    mask = np.zeros(run.grid, bool)
    for rect, _ in run.program.areas():
        mask[rect.slices()] = True
    for row, col in run.machine.defects:
        mask[row, col] = False
    return mask


def used_pes(run: Run) -> int:
    """Return the number of working PEs in kernels' regions."""
    return int(used_mask(run).sum())


def cause_totals(run: Run) -> tuple[tuple[str, int], ...]:
    """Return PE-cycles by cause over the run, from the metrics and the placement.

    Causes inside regions come from the fields, `unassigned` and `defective` from the placement:
    two sources, so that their sum can be checked against PEs x makespan.
    """
    makespan, machine = run.timeline.makespan, run.machine
    totals = []
    for cause in CAUSES:
        if cause == "defective":
            amount = len(machine.defects) * makespan
        elif cause == "unassigned":
            amount = (machine.working_pes - int(region_mask(run).sum())) * makespan
        elif f"cause:{cause}" in METRICS:
            amount = round(float(run.execution.fields.sums(f"cause:{cause}").sum()))
        else:
            amount = 0
        totals.append((cause, amount))
    return tuple(totals)
