"""The map: one metric over the PEs of the viewport. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.session.cursor import Selection, Viewport
from app.views.base import View


@dataclass(frozen=True, slots=True)
class Tick:
    """One mark of the legend."""

    value: float
    """value in the metric's unit"""
    position: float
    """place along the colour bar, 0..1, log scale taken into account"""
    text: str
    """the value as people read it, with its unit"""


@dataclass(frozen=True, slots=True)
class Outline:
    """A kernel's region, clipped to the viewport."""

    name: str
    row: int
    """northmost row inside the viewport, in PEs of the grid"""
    col: int
    rows: int
    cols: int
    selected: bool
    """True for the selected kernel"""
    severity: str
    """ok | warn | alert: alert where the kernel's SRAM does not fit"""


@dataclass(frozen=True, slots=True)
class HitMark:
    """Where a breakpoint or watchpoint stopped the run in the step shown."""

    row: int
    col: int
    plane: str
    """the link or ramp of the PE that was asked about, empty for the PE itself"""
    text: str
    """why, in one sentence"""


@dataclass(frozen=True, slots=True)
class Scale:
    """How codes become values: value = code * unit_per_code."""

    lo: float
    """value at the low end of the colours"""
    hi: float
    """value at the high end, fixed over the run"""
    unit_per_code: float
    """value of one code; 1/255 for fractions, 1 where bytes fit 16 bits"""
    log: bool
    """True: colours follow log(1 + value)"""


@dataclass(frozen=True, slots=True, eq=False)
class MapView(View):
    """One metric in one step over the viewport, pooled to the pixels asked for."""

    metric: str
    """id of the metric"""
    label: str
    unit: str
    kind: str
    """fraction | bytes | load | category"""
    step: int
    step_label: str
    """what happens at the start of the step"""
    grid: tuple[int, int]
    """(rows, cols) of the whole machine"""
    viewport: Viewport
    values: np.ndarray
    """uint8 (fraction, category) or uint16 (bytes, load) codes, (h, w), read-only"""
    pool_rows: int
    """PE rows that share a pixel"""
    pool_cols: int
    """PE columns that share a pixel"""
    pool_kind: str
    """max | mean | mode"""
    pool_text: str
    """pooling in words, empty at one PE a pixel"""
    scale: Scale
    palette: str
    """name of a colour table in app.palette"""
    ticks: tuple[Tick, ...]
    """legend marks; a category map has one a code, value = code"""
    categories: tuple[str, ...]
    """names by code for a category map, else empty"""
    outlines: tuple[Outline, ...]
    selection: Selection
    standing: str
    """what the numbers rest on"""
    severity: str
    """ok | warn | alert"""
    sentence: str
    """the map in one sentence"""
    running: tuple[str, ...] = ()
    """kernels that run in the step, in program order"""
    hit: HitMark | None = None
    """what stopped the run in this step, None where nothing did"""


@dataclass(frozen=True, slots=True)
class Frame:
    """The whole grid of one metric in one step at full resolution, for a canvas."""

    metric: str
    step: int
    rows: int
    cols: int
    dtype: str
    """uint8 | uint16, little endian"""
    scale: Scale
    palette: str
    data: bytes
    """rows * cols codes in C order"""


def levels(view: MapView, count: int) -> np.ndarray:
    """Return colour levels 0..count-1 of a map as uint8 (h, w), the view's scale applied.

    A category map returns its codes unchanged.
    """
    return code_levels(view.values, view.scale, view.kind, count)


def code_levels(codes: np.ndarray, scale: Scale, kind: str, count: int) -> np.ndarray:
    """Return colour levels 0..count-1 (count <= 256) of codes under a scale, uint8."""
    if kind == "category":
        return codes.astype(np.uint8)
    table = np.arange(256 if codes.dtype == np.uint8 else 65_536) * scale.unit_per_code
    position = positions(table, scale)
    level = np.minimum((position * count).astype(np.int64), count - 1).astype(np.uint8)
    picked: np.ndarray = level[codes]
    return picked


def positions(values: np.ndarray, scale: Scale) -> np.ndarray:
    """Return where values lie along the colour bar, float64 in 0..1."""
    values = np.clip(values, scale.lo, scale.hi)
    span = scale.hi - scale.lo
    if span <= 0:
        return np.zeros(values.shape)
    if scale.log:
        gain = 1.0 if scale.hi > 8 else 255.0
        lifted: np.ndarray = np.log1p(gain * (values - scale.lo)) / np.log1p(gain * span)
        return lifted
    part: np.ndarray = (values - scale.lo) / span
    return part
