"""From a difference to the map that the terminal paints, with a middle. Pure functions."""

from __future__ import annotations

import numpy as np

from app.session.cursor import Viewport
from app.views.compare import DifferenceView
from app.views.map import MapView, Scale

SIDES = 7
"""levels on either side of equal: 15 with the middle one, so that equal has its own"""
KIND = "difference"
"""kind of a map that shows a difference"""


def difference_levels(codes: np.ndarray) -> np.ndarray:
    """Return levels 0..14 of codes 0..255, uint8: 7 is equal, and only equal."""
    distance = codes.astype(np.int64) - 128
    steps = -(-np.abs(distance) * SIDES // 128)
    levels: np.ndarray = (SIDES + np.sign(distance) * np.minimum(steps, SIDES)).astype(np.uint8)
    return levels


def difference_map(found: DifferenceView, shown: MapView) -> MapView:
    """Return a difference as a map of the whole common grid, marks of `shown` where they fit."""
    rows, cols = found.grid
    is_pooled = found.pool_rows * found.pool_cols > 1
    where = "over the run"
    if found.steps is not None:
        where = "A step {}, B step {}".format(*found.steps)
    pooled = f"farthest from equal of {found.pool_rows}x{found.pool_cols} PEs"
    return MapView(
        metric=found.metric, label=f"{found.label} B - A, {where}", unit=found.unit, kind=KIND,
        step=shown.step, step_label=shown.step_label, grid=found.grid,
        viewport=Viewport(0, 0, rows, cols), values=found.values, pool_rows=found.pool_rows,
        pool_cols=found.pool_cols, pool_kind="extreme", pool_text=pooled if is_pooled else "",
        scale=Scale(-found.limit, found.limit, found.limit / 127.5, False), palette=found.palette,
        ticks=found.ticks, categories=(), outlines=found.outlines,
        selection=shown.selection, standing=found.standing, severity="ok",
        sentence=found.sentence,
    )  # fmt: skip
