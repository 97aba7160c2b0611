"""Breakpoints, watchpoints and where one stopped the run. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class ChainRow:
    """One link of the chain from what is seen back to the model."""

    level: str
    """pixel | cause | profile | buffer | route | placement | fusion | source | compile"""
    name: str
    """what it is about"""
    sentence: str


@dataclass(frozen=True, slots=True)
class BreakRow:
    """A breakpoint or watchpoint."""

    id: int
    kind: str
    """break | watch"""
    condition: str
    enabled: bool
    once: bool
    ignore: int
    """times it will still be passed over"""
    hits: int
    stops: int
    """times it turns true in this run"""
    next_step: int | None
    """first step after the one shown at which it turns true"""
    last_step: int | None
    """last step before the one shown at which it turns true"""
    note: str
    """why it cannot be judged on this run, or what was decided at compile; empty otherwise"""


@dataclass(frozen=True, slots=True)
class StopView(View):
    """Why the run stopped where it did."""

    id: int
    """number of the breakpoint, 0 for a condition given once"""
    condition: str
    step: int
    cycle: int
    """first cycle of the step"""
    pe: tuple[int, int] | None
    """a PE at which it is true"""
    plane: str
    """the link or ramp of that PE it is about, empty for none"""
    kernel: str | None
    also: tuple[str, ...]
    """other kernels for which it turned true in the same step"""
    evidence: tuple[str, ...]
    """the quantities of the condition, before and now"""
    chain: tuple[ChainRow, ...]
    """the compiler decisions behind it, down to the source nodes"""
    standing: str
    sentence: str


@dataclass(frozen=True, slots=True)
class BreaksView(View):
    """All breakpoints, and the newest stop."""

    rows: tuple[BreakRow, ...]
    stop: StopView | None
    """why the run stopped last, None before the first stop"""
    names: tuple[tuple[str, str], ...]
    """(name, meaning) of what a condition may use"""
    standing: str
    sentence: str
