"""What the map can show: the engine's metrics, and what only the app knows of the kernels.

Every category map begins with the two codes of PEs without a kernel, as the map of causes does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from app.runs.run import Run
from engine.causes import CAUSES
from engine.metrics import METRICS, Metric
from engine.program import Kernel
from lowering.passes.phases import PHASES

BARE = ("defective", "unassigned")
"""categories of PEs without a kernel"""
KINDS = (
    *BARE, "dot", "conv", "moe", "recurrent", "embedding", "gather", "reduce", "window",
    "pointwise", "move", "loss", "optimizer", "dequantize",
)  # fmt: skip
"""families of kernels, those that multiply matrices first"""
PHASE_NAMES = (*BARE, "no phase", *PHASES)
CATEGORIES = {"cause": CAUSES, "kind": KINDS, "phase": PHASE_NAMES}
"""metric of kind category -> names by code"""

_EXACT = "exact for this program"
_OWN = (
    Metric("kind", "kernel type", "", "category", "kinds", "mode", _EXACT,
           "family of the kernel that runs on the PE, or runs there next"),
    Metric("phase", "training phase", "", "category", "phases", "mode", _EXACT,
           "phase of the training step that the PE's kernel belongs to"),
)  # fmt: skip


def _with_own() -> dict[str, Metric]:
    found: dict[str, Metric] = {}
    for metric in METRICS.values():
        found[metric.id] = metric
        if metric.id == "cause":
            found |= {own.id: own for own in _OWN}
    return found


MAP_METRICS = _with_own()
"""id -> metric, in the order in which screens list them"""


def categories_of(metric_id: str) -> tuple[str, ...]:
    """Return the names by code of a category metric, empty for one with numbers."""
    return CATEGORIES.get(metric_id, ())


def map_field(run: Run, metric_id: str, step: int) -> np.ndarray:
    """Return the map of a metric in a step: uint8 codes of a category, else as the engine does.

    Raises:
        KeyError: no such metric. IndexError: a step outside the run.
    """
    if metric_id == "kind":
        return _painted(run, step, lambda kernel: KINDS.index(kernel.family))
    if metric_id == "phase":
        return _painted(run, step, _phase_code)
    return run.execution.fields.field(metric_id, step)


def _phase_code(kernel: Kernel) -> int:
    return PHASE_NAMES.index(dict(kernel.tags).get("phase", "no phase"))


def _painted(run: Run, step: int, code: Callable[[Kernel], int]) -> np.ndarray:
    """Return the code of the kernel on every PE in a step, uint8 (rows, cols)."""
    if not 0 <= step < run.timeline.steps:
        raise IndexError(f"step {step} is outside 0..{run.timeline.steps - 1}")
    field = np.full(run.grid, BARE.index("unassigned"), np.uint8)
    for region, (rect, _) in enumerate(run.program.areas()):
        kernel = run.execution.fields.kernel_of_region(region, step)
        field[rect.slices()] = code(run.program.kernels[kernel])
    for row, col in run.machine.defects:
        field[row, col] = BARE.index("defective")
    return field
