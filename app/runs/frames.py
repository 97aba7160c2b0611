"""Full-resolution frames for a canvas: codes of one metric in one step, cached by run and step.

A frame of a run never changes, so a screen may keep it for ever under (run id, metric, step).
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict

import numpy as np

from app.runs.map_metrics import MAP_METRICS, map_field
from app.runs.run import Run
from app.views.map import Frame, Scale

BUDGET_BYTES = 128 << 20
"""frames kept in memory"""
FIELDS_KEPT = 6
"""maps kept in memory: the step shown and those that a key may lead to"""


def metric_scale(run: Run, metric_id: str, log: bool) -> Scale:
    """Return a metric's scale, the same in every step of a run."""
    kind = MAP_METRICS[metric_id].kind
    if kind == "fraction":
        return Scale(0.0, 1.0, 1 / 255, log)
    if kind == "category":
        return Scale(0.0, 255.0, 1.0, False)
    high = float(math.ceil(max(0, run.execution.fields.range(metric_id)[1])))
    if kind == "load":
        return Scale(0.0, high, high / 65_535, log)
    return Scale(0.0, high, max(1.0, high / 65_535), log)


def encode(field: np.ndarray, scale: Scale, kind: str) -> np.ndarray:
    """Return codes of a field: uint8 (fraction, category) or little-endian uint16 (others).

    What is above zero never becomes code 0, so that a faint value stays visible.
    """
    if kind == "category":
        return np.ascontiguousarray(field, np.uint8)
    if kind == "fraction":
        codes = np.rint(np.clip(field, 0.0, 1.0) * np.float32(255)).astype(np.uint8)
    elif scale.unit_per_code == 1.0:
        return np.ascontiguousarray(np.minimum(field, 65_535), "<u2")
    else:
        codes = np.minimum(np.rint(field / scale.unit_per_code), 65_535).astype("<u2")
    codes[(codes == 0) & (field > 0)] = 1
    return np.ascontiguousarray(codes)


def make_frame(run: Run, metric_id: str, step: int, field: np.ndarray) -> Frame:
    """Return the whole grid of a metric in a step, of which `field` is the map."""
    metric = MAP_METRICS[metric_id]
    scale = metric_scale(run, metric_id, False)
    codes = encode(field, scale, metric.kind)
    rows, cols = run.grid
    name = "uint8" if codes.dtype == np.uint8 else "uint16"
    return Frame(metric_id, step, rows, cols, name, scale, metric.palette, codes.tobytes())


class FrameCache:
    """The frames asked for last, within a budget of bytes, and the few maps behind the newest."""

    def __init__(self, budget: int = BUDGET_BYTES, fields: int = FIELDS_KEPT) -> None:
        """`budget` is in bytes, `fields` counts maps."""
        self._budget, self._most_fields = budget, fields
        self._held = 0
        self._frames: OrderedDict[tuple[int, str, int], Frame] = OrderedDict()
        self._fields: OrderedDict[tuple[int, str, int], np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def field(self, run: Run, metric_id: str, step: int) -> np.ndarray:
        """Return the map of a metric in a step, read-only, made or from memory."""
        key = (run.id, metric_id, step)
        with self._lock:
            if key in self._fields:
                self._fields.move_to_end(key)
                return self._fields[key]
        field = map_field(run, metric_id, step)
        field.setflags(write=False)
        with self._lock:
            self._fields[key] = field
            while len(self._fields) > self._most_fields:
                self._fields.popitem(last=False)
        return field

    def get(self, run: Run, metric_id: str, step: int) -> Frame:
        """Return a frame, made or from memory.

        Raises:
            KeyError: no such metric. IndexError: no such step.
        """
        if metric_id not in MAP_METRICS:
            raise KeyError(f"there is no metric '{metric_id}'")
        if not 0 <= step < run.timeline.steps:
            raise IndexError(
                f"step {step} does not exist; the run has steps 0..{run.timeline.steps - 1}"
            )
        key = (run.id, metric_id, step)
        with self._lock:
            if key in self._frames:
                self._frames.move_to_end(key)
                return self._frames[key]
        frame = make_frame(run, metric_id, step, self.field(run, metric_id, step))
        with self._lock:
            if key not in self._frames:
                self._frames[key] = frame
                self._held += len(frame.data)
            while self._held > self._budget and len(self._frames) > 1:
                self._held -= len(self._frames.popitem(last=False)[1].data)
        return frame
