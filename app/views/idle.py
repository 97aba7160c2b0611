"""Where PEs idle, and why. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class IdleRegion:
    """Connected PEs that idle for the same dominant cause."""

    cause: str
    pes: int
    pe_cycles: int
    """PE-cycles lost to this cause inside the region"""
    share: float
    """of all PE-cycles looked at, 0..1"""
    rect: tuple[int, int, int, int]
    """bounding box: row, col, rows, cols"""
    kernels: tuple[str, ...]
    """kernels inside, at most 8"""
    sentence: str
    levers: tuple[str, ...]
    """knobs whose mechanism acts on this cause; no gain is promised"""
    gains: tuple[str, ...] = ()
    """what trying these knobs gave, a sentence each; empty: not tried"""


@dataclass(frozen=True, slots=True)
class IdleView(View):
    """The largest idle regions of a step or of the run."""

    scope: str
    """step | run"""
    step: int | None
    """step looked at, None for the run"""
    cycles: int
    """cycles looked at"""
    idle_share: float
    """PE-cycles of all idle causes / all PE-cycles, 0..1"""
    causes: tuple[tuple[str, float], ...]
    """(idle cause, its share of all PE-cycles 0..1), largest first; they sum to idle_share"""
    regions: tuple[IdleRegion, ...]
    """largest loss first, at most ten"""
    standing: str
    sentence: str
