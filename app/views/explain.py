"""The chain from a place or a step back to the model, and why it waits. Plain data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View
from app.views.breaks import ChainRow


@dataclass(frozen=True, slots=True)
class TieRow:
    """One of the things that a wait ended with."""

    cause: str
    transfer: str
    """transfer waited for, empty for none"""
    lever: str
    """what acts on it: in_slots | out_slots | producer | fabric | host | region"""
    sentence: str


@dataclass(frozen=True, slots=True)
class ExplainView(View):
    """Why something is as it is."""

    kind: str
    """pe | link | kernel | step"""
    target: str
    """such as 'PE (3, 4)'"""
    step: int
    place: tuple[int, int, int, int] | None
    """row, col, rows, cols of what is explained, None for a step"""
    ties: tuple[TieRow, ...]
    """everything the wait of the step waited for last; empty when it works"""
    ties_note: str
    """whether one lever can help, empty without ties"""
    chain: tuple[ChainRow, ...]
    """pixel, cause, route, placement, fusion, source"""
    standing: str
    sentence: str
