"""How long activations live where kernels take turns. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class ActivationRow:
    """A tensor between kernels that take turns."""

    tensor: str
    made_by: str
    last_read_by: str
    turns: int
    """turns in which it is on the wafer: from the one that makes it to the last that reads it,
    but for those in which it waits outside"""
    away: int
    """turns in which it waits outside"""
    bytes: int
    """of one copy, over the whole wafer"""
    pe_bytes: int
    """SRAM that its slots at maker and readers take on the fullest PE"""
    byte_turns: int
    """what it costs: bytes times turns"""
    share: float
    """of all byte-turns, 0..1"""
    phase: str
    """phase of the training step that makes it, empty where nothing trains"""
    fate: str
    """outside | kept | dropped | made again | passed on"""
    at_peak: bool
    """True when it is alive in the turn in which most bytes are"""
    sentence: str


@dataclass(frozen=True, slots=True)
class AlivePoint:
    """One turn, or the fullest of several where they are too many."""

    kernel: str
    turn: int
    """from 1"""
    bytes: int
    """alive over the wafer, each tensor once"""


@dataclass(frozen=True, slots=True)
class ActivationsView(View):
    """Every activation, the most expensive first."""

    points: tuple[AlivePoint, ...]
    """in running order, at most MOST_POINTS of build_memory"""
    peak: int
    """index of the point with most bytes"""
    peak_kernel: str
    """kernel in whose turn most bytes are alive, empty without activations"""
    peak_turn: int
    """from 1, 0 without activations"""
    turns: int
    peak_bytes: int
    rows: tuple[ActivationRow, ...]
    """most byte-turns first"""
    more: int
    """activations that are not listed, each cheaper than those that are"""
    traffic: str
    """what leaves the wafer and comes back in a sample, empty where nothing does"""
    remedy: str
    """what the knob activation_mb can do about the peak, empty where nothing trains"""
    budget_mb: str
    """value of activation_mb that lowers the peak, empty where none does"""
    standing: str
    severity: str
    sentence: str
