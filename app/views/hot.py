"""The hottest links and ramps, and who sends over them. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class SenderRow:
    """A flow that loads a link."""

    flow: str
    """transfer id, or kernel id for traffic inside its region"""
    ends: str
    """such as 'fc0 to fc1'"""
    load: float
    """wavelets a cycle on this link"""
    share: float
    """of the link's load, 0..1"""


@dataclass(frozen=True, slots=True)
class HotRow:
    """A link or ramp."""

    row: int
    col: int
    plane: str
    """east | west | north | south | inject | deliver"""
    words: int
    """wavelets over the time looked at"""
    load: float
    """wavelets a cycle, 0..1"""
    senders: tuple[SenderRow, ...]
    """most first"""
    severity: str
    sentence: str


@dataclass(frozen=True, slots=True)
class HotView(View):
    """The most loaded links and ramps of a step or of the run, one for each set of senders."""

    scope: str
    """step | run"""
    step: int | None
    """step looked at, None for the run"""
    cycles: int
    """cycles looked at"""
    rows: tuple[HotRow, ...]
    """highest load first, at most ten"""
    standing: str
    sentence: str
