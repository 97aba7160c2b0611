"""What counts as idle, and where it is: the one place for this rule. Knows no screen.

A PE is idle in a step (or over the run) when the cause that took most of its cycles is none of
compute, overhead, memory, transfer. Idle PEs that touch and share their cause are one region.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.finding.components import boxes, label
from app.runs.figures import cause_totals, region_mask
from app.runs.run import Run
from engine.causes import CAUSES
from engine.profile import BUSY_CAUSES
from lowering.config import KNOBS

NOT_IDLE = (*BUSY_CAUSES, "defective")
"""causes that are work, and that of PEs which cannot work"""
REGIONS = 10
"""idle regions kept"""

_LEVERS = {
    "unassigned": ("pe_cap", "machine"),
    "imbalance": ("pe_cap",),
    "wait-output": ("slots",),
    "wait-input": ("max_chunks", "pe_cap"),
    "wait-fabric": ("dtype", "max_chunks", "slots"),
    "wait-host": ("dtype", "loader_workers", "host_channels"),
    "wait-weights": ("dtype", "prefetch", "optimizer", "spill_mb"),
    "fill": ("samples", "max_chunks"),
    "drain": ("samples", "max_chunks"),
}
"""cause -> knobs whose mechanism acts on it; whether they gain anything must be tried"""


@dataclass(frozen=True, slots=True, eq=False)
class IdleMap:
    """Causes of every PE over a step or the run."""

    dominant: np.ndarray
    """uint8 (rows, cols) index in CAUSES of the cause with most cycles, the first on ties"""
    lost: np.ndarray
    """float64 (rows, cols) cycles of that cause"""
    totals: tuple[tuple[str, int], ...]
    """(cause, PE-cycles), every cause that occurs, largest first"""
    cycles: int
    """cycles looked at"""


@dataclass(frozen=True, slots=True)
class IdleArea:
    """Connected idle PEs with one cause."""

    cause: str
    pes: int
    lost: float
    """PE-cycles of the cause inside"""
    box: tuple[int, int, int, int]
    """row, col, rows, cols"""


def idle_map(run: Run, step: int | None) -> IdleMap:
    """Return the causes of a step, or of the whole run (None)."""
    cycles = run.timeline.makespan
    if step is not None:
        start, end = run.step_bounds(step)
        cycles = end - start
    dominant = np.zeros(run.grid, np.uint8)
    lost = np.zeros(run.grid, np.float64)
    amounts = dict.fromkeys(CAUSES, 0) if step is not None else dict(cause_totals(run))
    for code, cause in enumerate(CAUSES):
        if step is None and not amounts[cause]:
            continue
        spent = _spent(run, cause, step, cycles)
        more = spent > lost
        dominant[more] = code
        np.maximum(lost, spent, out=lost)
        if step is not None:
            amounts[cause] = round(float(spent.sum(dtype=np.float64)))
    ranked = sorted((item for item in amounts.items() if item[1]), key=lambda item: -item[1])
    return IdleMap(dominant, lost, tuple(ranked), cycles)


def _spent(run: Run, cause: str, step: int | None, cycles: int) -> np.ndarray:
    """Return every PE's cycles of a cause, (rows, cols)."""
    dead = tuple(np.array(run.machine.defects, np.int64).reshape(-1, 2).T)
    if cause == "defective":
        spent = np.zeros(run.grid, np.float64)
        spent[dead] = cycles
        return spent
    if cause == "unassigned":
        spent = np.where(region_mask(run), 0.0, float(cycles))
    elif step is None:
        spent = run.execution.fields.total(f"cause:{cause}")
    else:
        spent = run.execution.fields.field(f"cause:{cause}", step) * np.float32(cycles)
    spent[dead] = 0
    return spent


def idle_areas(found: IdleMap) -> tuple[IdleArea, ...]:
    """Return the ten connected idle areas that lose most PE-cycles, largest first."""
    work = np.array([CAUSES.index(cause) for cause in NOT_IDLE])
    wanted = ~np.isin(found.dominant, work) & (found.lost > 0)
    if not wanted.any():
        return ()
    labels, count = label(found.dominant, wanted)
    flat = labels[wanted]
    lost = np.bincount(flat, found.lost[wanted], count)
    pes = np.bincount(flat, minlength=count)
    chosen = np.argsort(-lost, kind="stable")[:REGIONS]
    areas = []
    for name, box in zip(chosen, boxes(labels, chosen), strict=True):
        inside = labels == name
        cause = CAUSES[int(found.dominant[inside][0])]
        areas.append(IdleArea(cause, int(pes[name]), float(lost[name]), box))
    return tuple(areas)


def levers(cause: str) -> tuple[str, ...]:
    """Return the knobs that act on a cause, only those that exist."""
    return tuple(name for name in _LEVERS.get(cause, ()) if name in KNOBS)
