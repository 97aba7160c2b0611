"""Advice: what the rules saw, what was tried and what it gave. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class TriedRow:
    """Knobs that were turned together and what that gave."""

    changes: tuple[tuple[str, str, str], ...]
    """(knob, value, kernel or empty)"""
    text: str
    """as a user sets it, such as 'slots = 2 (out and in together)'"""
    gain: float
    """share of the goal gained, 0 or less: none"""
    sentence: str
    """says that it was tried, before and after"""


@dataclass(frozen=True, slots=True)
class AdviceRow:
    """What a rule saw."""

    rule: str
    title: str
    severity: str
    sentence: str
    evidence: tuple[tuple[str, str], ...]
    """(what, value with unit)"""
    knobs: tuple[str, ...]
    """knobs whose mechanism acts on it; no gain is promised"""
    kernels: tuple[str, ...]
    place: tuple[int, int, int, int] | None
    """row, col, rows, cols to look at, None for the whole mesh"""
    goal: str
    """what a change should lower: cycles | sram | fit"""
    tried: tuple[TriedRow, ...]
    """empty: nothing was tried"""
    best: TriedRow | None
    """the change to make; None: nothing that was tried gains"""
    untried: tuple[str, ...]
    """proposals not tried yet: no gain is known"""
    standing: str


@dataclass(frozen=True, slots=True)
class OptimumView(View):
    """What a search over single knobs and pairs found."""

    rows: tuple[TriedRow, ...]
    """best first"""
    best: TriedRow | None
    makespan: int
    """cycles before"""
    left: int
    """candidates for which there was no time"""
    seconds: float
    """time budget"""
    sentence: str


@dataclass(frozen=True, slots=True)
class AdviceView(View):
    """Everything the rules say about a run."""

    rows: tuple[AdviceRow, ...]
    """alerts first, then by share of the run"""
    rules: int
    """rules that were asked"""
    is_tried: bool
    """True when proposals of this run were tried"""
    optimum: OptimumView | None
    """the newest search on this run, None before any"""
    standing: str
    sentence: str
