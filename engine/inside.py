"""Causes inside instances: how much of a step falls to each, by class of PEs and over all PEs.

Inside an instance a PE is busy first, cause by cause in the profile's order, then waits for
slower PEs (imbalance).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.causes import CAUSES
from engine.profile import BUSY_CAUSES, Profile
from engine.program import Program
from engine.steps import RUNNING, StepTables

INSIDE = (*BUSY_CAUSES, "imbalance")
"""causes inside an instance, in the order they come"""
INSIDE_CODES = np.array([CAUSES.index(name) for name in INSIDE], np.uint8)
UNASSIGNED, DEFECTIVE = CAUSES.index("unassigned"), CAUSES.index("defective")


def overlap(
    profile: Profile, before: np.ndarray, after: np.ndarray, classes: slice = slice(None)
) -> np.ndarray:
    """Return cycles by inside cause between two progresses of an instance.

    before, after: int64 (n,); result int64 (n, classes, 5), of the classes chosen.
    """
    low, high = before[:, None, None], after[:, None, None]
    busy = np.cumsum(profile.cycles[classes], axis=-1)
    edge = (len(busy), 1)
    ends = np.concatenate([busy, np.full(edge, profile.length)], axis=-1)
    starts = np.concatenate([np.zeros(edge, np.int64), busy], axis=-1)
    return np.asarray(np.maximum(0, np.minimum(high, ends) - np.maximum(low, starts)))


def cause_table(
    program: Program, profiles: Mapping[str, Profile], tables: StepTables, cycles: np.ndarray
) -> np.ndarray:
    """Return the PE-cycles of every cause in every step, int64 (steps, len(CAUSES))."""
    table = np.zeros((len(cycles), len(CAUSES)), np.int64)
    machine = program.machine
    areas = program.areas()
    used = sum(rect.area for rect, _ in areas)
    table[:, DEFECTIVE] = len(machine.defects) * cycles
    table[:, UNASSIGNED] = (machine.working_pes - used) * cycles
    imbalance = CAUSES.index("imbalance")
    for region, (rect, kernels) in enumerate(areas):
        idle = tables.idle[region]
        waiting = np.flatnonzero(idle != RUNNING)
        table[waiting, idle[waiting]] += rect.area * cycles[waiting]
        for index in kernels:
            kernel = program.kernels[index]
            profile = profiles[kernel.id]
            running, before, after = tables.running(index, profile.length)
            inside = overlap(profile, before, after)
            sums = np.tensordot(inside, profile.counts(), axes=([1], [0]))
            table[running[:, None], INSIDE_CODES[None, :]] += sums
            table[running, imbalance] += (rect.area - kernel.region.area) * cycles[running]
    return table
