"""Two runs side by side: figures, kernels, and where the PEs differ. Frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.views.base import View
from app.views.map import Outline, Tick

Box = tuple[int, int, int, int]
"""(row, col, rows, cols)"""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One figure of both runs."""

    name: str
    unit: str
    """cycles | samples/Mcycle | fraction | bytes | PEs | wavelets/cycle | PE-cycles | steps |
    samples"""
    a: float
    b: float
    difference: float
    """b - a"""
    percent: float | None
    """difference in per cent of a, None when a is 0"""
    verdict: str
    """better | worse | same | changed (neither better nor worse by itself)"""
    texts: tuple[str, str, str]
    """a, b and the difference as people read them"""


@dataclass(frozen=True, slots=True)
class KernelChange:
    """A kernel of either run, matched by its name."""

    name: str
    state: str
    """same | moved | grown | shrunk | reshaped | new | gone"""
    is_moved: bool
    """True when its north-west corner differs, also when it has grown or shrunk"""
    region_a: Box | None
    """None: not in A"""
    region_b: Box | None
    """None: not in B"""
    cycles_a: int | None
    """of an instance"""
    cycles_b: int | None
    sram_a: int | None
    """bytes on its fullest PE"""
    sram_b: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class CompareView(View):
    """Run B measured against run A."""

    label_a: str
    label_b: str
    rows: tuple[CompareRow, ...]
    causes: tuple[CompareRow, ...]
    """share of PEs x makespan by cause"""
    kernels: tuple[KernelChange, ...]
    """in the order of B, those that are gone last"""
    knobs: tuple[tuple[str, str, str], ...]
    """(knob, value in A, value in B) where they differ"""
    notes: tuple[str, ...]
    """what makes the two hard to compare"""
    step_a: int
    """step of A at the same progress as `step_b`"""
    step_b: int
    progress: float
    """share of the makespan at which both steps are, 0..1"""
    standing: str
    sentence: str


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceView(View):
    """B less A for every PE, pooled to the pixels asked for."""

    metric: str
    label: str
    unit: str
    what: str
    """run | step"""
    steps: tuple[int, int] | None
    """steps of A and B, None for the whole run"""
    grid: tuple[int, int]
    """(rows, cols) of the common grid"""
    values: np.ndarray
    """uint8 (h, w): 0 lowest, 128 equal, 255 highest; read-only"""
    limit: float
    """difference at either end of the colours, in `unit`"""
    palette: str
    """name of a colour table in app.palette"""
    ticks: tuple[Tick, ...]
    pool_rows: int
    """rows of the common grid that share a pixel"""
    pool_cols: int
    outlines: tuple[Outline, ...]
    """regions of B on the common grid"""
    standing: str
    sentence: str
