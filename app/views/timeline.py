"""The run along time: series reduced to the bins asked for, and kernel bars. No screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity along the run, reduced to bins of equal length in cycles."""

    name: str
    kind: str
    """fraction | load | bytes: how its values are written"""
    unit: str
    mean: tuple[float, ...]
    """average of each bin, weighted by cycles"""
    peak: tuple[float, ...]
    """largest step of each bin"""
    top: float
    """largest value of the visible range"""
    top_step: int
    """step where it is"""
    top_text: str
    """the largest value with its unit"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One instance of a kernel."""

    kernel: str
    lane: int
    """index of the kernel in program order"""
    sample: int
    start: int
    """cycle"""
    end: int
    """cycle"""


@dataclass(frozen=True, slots=True)
class TimelineView(View):
    """Series and bars of the cycles [start, end)."""

    start: int
    """first cycle shown"""
    end: int
    """first cycle not shown"""
    makespan: int
    """cycles of the run"""
    steps: int
    """steps of the run"""
    step: int
    """step shown"""
    step_start: int
    """cycle"""
    step_end: int
    """cycle"""
    series: tuple[Series, ...]
    """utilization, traffic, live SRAM"""
    lanes: tuple[str, ...]
    """kernel ids by lane"""
    bars: tuple[Bar, ...]
    """by start, at most `max_bars`; the longest are kept"""
    hidden_bars: int
    """bars left out because there were too many"""
    sentence: str
