"""Whose turn it is in a weight-streaming run, and which weights arrive. Plain data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class ArrivalRow:
    """The weights of one kernel on their way in."""

    kernel: str
    sample: int
    """sample that will use them"""
    words: int
    """distinct wavelets in all"""
    sent: int
    """of them through the ports at the start of the step"""
    until_cycle: int
    """cycle in which the last one leaves the ports"""


@dataclass(frozen=True, slots=True)
class StreamingView(View):
    """A step of a weight-streaming run."""

    turn: tuple[str, ...]
    """kernels that run in the step; when none does, the next to start"""
    is_waiting: bool
    """True when none runs in the step"""
    arriving: tuple[ArrivalRow, ...]
    leaving: tuple[str, ...]
    """tensors on their way out through the weight ports: gradients or new state"""
    sentence: str
