"""Where kernels take turns on a machine with defective PEs: the largest rectangle without one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from engine.geometry import Rect
from engine.machine import MachineSpec


@lru_cache(maxsize=8)
def turn_area(machine: MachineSpec) -> Rect:
    """Return the PEs on which kernels take turns: all, or the largest rectangle that works.

    Such a rectangle ends at the south border or right above a defective PE.
    """
    rows, cols = machine.rows, machine.cols
    if not machine.defects:
        return Rect(0, 0, rows, cols)
    dead = np.zeros((rows, cols), bool)
    dead[tuple(np.array(machine.defects).T)] = True
    above = np.maximum.accumulate(np.where(dead, np.arange(rows)[:, None], -1), axis=0)
    bottoms = sorted({rows - 1, *(row - 1 for row, _ in machine.defects if row)})
    found = [(bottom, *_widest((bottom - above[bottom]).tolist())) for bottom in bottoms]
    bottom, height, first, width = max(found, key=lambda each: each[1] * each[3])
    return Rect(bottom + 1 - height, first, height, width)


def around_defects(machine: MachineSpec) -> tuple[str, ...]:
    """Say on which PEs kernels take turns where some are defective."""
    area = turn_area(machine)
    if not machine.defects:
        return ()
    return (
        f"mode streaming: kernels take turns on the {area.rows:,} x {area.cols:,} PEs from "
        f"({area.row}, {area.col}) on, the largest rectangle without a defective one; "
        f"{machine.working_pes - area.area:,} working PEs beside it have no kernel",
    )


def _widest(heights: list[int]) -> tuple[int, int, int]:
    """Return (height, first, width) of the largest rectangle under a skyline."""
    best, open_at = (0, 0, 0), [(-1, 0)]
    for place, height in enumerate((*heights, 0)):
        first = place
        while open_at[-1][0] >= height and len(open_at) > 1:
            level, first = open_at.pop()
            if level * (place - first) > best[0] * best[2]:
                best = (level, first, place - first)
        open_at.append((height, first))
    return best
