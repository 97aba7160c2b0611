"""What a run's makespan is made of, and how far it is from its bound. Plain data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class ShareRow:
    """One part of the critical path."""

    kind: str
    """compute | overhead | memory | fabric | input | imbalance, and where the program has them
    loader (samples decoded on the host) and weights"""
    cycles: int
    share: float
    """of the makespan, 0..1"""


@dataclass(frozen=True, slots=True)
class BottleneckView(View):
    """The verdict on a run."""

    kind: str
    """largest of the rows"""
    kernel: str
    """kernel that holds most of the critical path, empty for none"""
    kernel_cycles: int
    """cycles it holds"""
    rows: tuple[ShareRow, ...]
    """largest first; they sum to the makespan"""
    makespan: int
    """cycles"""
    bound_cycles: int
    """no schedule of these kernels is shorter"""
    bound_share: float
    """bound / makespan, 0..1"""
    standing: str
    sentence: str
