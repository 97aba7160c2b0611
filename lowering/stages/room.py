"""What kernels may use of the machine in one attempt to place them. Knows no positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.geometry import Rect
from engine.machine import MachineSpec
from lowering.config import CompileConfig
from lowering.stages.sizing import SizingLimits


@dataclass(frozen=True, slots=True)
class Room:
    """What kernels may use."""

    config: CompileConfig
    factor: int
    """times the machine's own SRAM; beyond 1 it is a what-if"""
    spare: Mapping[str, int]
    """bytes set aside on the PEs of kernels whose slots overfilled them before"""

    @property
    def target(self) -> tuple[MachineSpec, str]:
        """machine and storage dtype"""
        return self.config.machine, self.config.storage

    def limits(self, rows: int, cols: int, kernel: str) -> SizingLimits:
        """Return the limits of one kernel inside rows x cols PEs."""
        data = self.config.machine.data_sram_bytes
        least = data // 8
        room = max(least, data - self.spare.get(kernel, 0)) * self.factor
        return SizingLimits(rows, cols, room, self.config.cap(kernel), whole=kernel in self.spare)

    def limits_in(self, region: Rect, kernel: str) -> SizingLimits:
        """Return the limits of one kernel in a region; a pinned one uses all PEs that help."""
        found = self.limits(region.rows, region.cols, kernel)
        return replace(found, least_gain=0.0) if kernel in dict(self.config.pins) else found
