"""Everything about one PE in one step. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View
from app.views.values import TileView


@dataclass(frozen=True, slots=True)
class CauseRow:
    """Cycles a PE spent for one cause."""

    cause: str
    step_cycles: int
    """cycles in the step shown"""
    step_share: float
    """of the step's cycles, 0..1"""
    run_cycles: int
    """cycles in the whole run"""
    run_share: float
    """of the makespan, 0..1"""


@dataclass(frozen=True, slots=True)
class SramRow:
    """One buffer in a PE's SRAM."""

    name: str
    role: str
    """weights | in slot | out slot | work | code"""
    offset: int
    """bytes from the start of SRAM"""
    size: int
    """bytes"""
    live: bool
    """True when it holds data in this step"""
    live_bytes: int
    """bytes that hold data in this step"""
    fits: bool
    """False when it ends beyond the SRAM"""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """What leaves a PE over one plane in the step."""

    plane: str
    """east | west | north | south | inject | deliver"""
    words: int
    """wavelets in the step"""
    load: float
    """wavelets a cycle"""
    severity: str
    """ok | warn (from app.finding.hot_links.HOT_LINK)"""


@dataclass(frozen=True, slots=True)
class PEView(View):
    """One PE: whose it is, what it did, what its SRAM holds, what its links carry."""

    row: int
    col: int
    step: int
    step_cycles: int
    """length of the step"""
    kernel: str | None
    """kernel id, None when no kernel lives here"""
    kernel_kind: str
    """what a user recognises: the kernel's kind, empty without a kernel"""
    tile: str
    """which part of the kernel's matrix the PE holds, as a sentence"""
    causes: tuple[CauseRow, ...]
    """largest in the run first, only those that occur"""
    sram: tuple[SramRow, ...]
    """by offset"""
    sram_capacity: int
    """bytes"""
    sram_allocated: int
    """bytes"""
    sram_live: int
    """bytes that hold data in this step"""
    links: tuple[LinkRow, ...]
    source_nodes: tuple[str, ...]
    """nodes of the model behind the kernel"""
    standing: str
    severity: str
    sentence: str
    values: TileView | None = None
    """what it keeps of the kernel's main result, None until values are computed"""
    values_note: str = ""
    """what it keeps as a sentence, or why that is not known; empty without a kernel"""
