"""SRAM in program order and who holds it at the peak. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class MemoryPoint:
    """One moment of program order, or the fullest of several where they are too many."""

    kernel: str
    moment: str
    """such as 'operation 2 of 3' or 'turn 5 of 12'"""
    live_bytes: int
    """in use on the fullest PE of the kernel"""


@dataclass(frozen=True, slots=True)
class HolderRow:
    """A buffer that is in use at the peak."""

    kernel: str
    name: str
    """tensor or purpose"""
    role: str
    """code | weights | weight slot | in slot | out slot | work"""
    slots: int
    """slots that make up the bytes"""
    held_bytes: int
    share: float
    """of the bytes in use, 0..1"""
    since: str
    """moment from which it is in use"""
    until: str
    """last moment in which it is"""


@dataclass(frozen=True, slots=True)
class MemoryView(View):
    """The SRAM of the fullest PE along program order."""

    scope: str
    """wafer | the PEs of a kernel, such as 'PEs of fc1'"""
    order: str
    """turns | operations: what a moment is"""
    points: tuple[MemoryPoint, ...]
    """in program order, at most MOST_POINTS"""
    peak: int
    """index of the point with the most bytes, the first of ties"""
    kernel: str
    """kernel at the peak, empty without kernels"""
    moment: str
    live_bytes: int
    """in use at the peak"""
    allocated_bytes: int
    """of the same PEs, to the end of the highest buffer: decides whether the program fits"""
    capacity_bytes: int
    top_bytes: int
    """where a scale from 0 ends: the capacity, or little above the peak where it is far below"""
    rows: tuple[HolderRow, ...]
    """in use at the peak, largest first"""
    standing: str
    severity: str
    sentence: str
