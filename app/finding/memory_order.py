"""SRAM in program order: what must be in memory at once, whatever the cycle. One rule for all.

Where kernels take turns on the same PEs the order is that of their turns; on PEs of its own a
kernel's order is that of its operations. Knows no screen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.operations import operation_text
from app.runs.run import Run
from engine.program import Buffer, Program


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Consecutive moments of one class of PEs."""

    kernels: tuple[str, ...]
    """kernels that take turns; one where the PEs are its own"""
    buffers: tuple[Buffer, ...]
    """of all of them; `live` counts these moments"""
    live: np.ndarray
    """int64 (moments,) bytes in use on the fullest PE"""
    moments: tuple[str, ...]
    """what happens at each moment, such as 'operation 2 of 3 (Dot)' or 'turn 5 of 12'"""
    allocated: int
    """bytes from the start of SRAM to the end of the highest buffer"""

    def alive(self, moment: int) -> tuple[Buffer, ...]:
        """Return the buffers in use at a moment, largest first."""
        found = [b for b in self.buffers if b.size and b.live[0] <= moment <= b.live[1]]
        return tuple(sorted(found, key=lambda b: (-b.size, b.offset)))

    def kernel_at(self, moment: int) -> str:
        """Return the kernel of a moment."""
        return self.kernels[moment if len(self.kernels) > 1 else 0]


def stretches(run: Run) -> tuple[Stretch, ...]:
    """Return the classes of PEs in program order."""
    program = run.program
    buffers: dict[str, list[Buffer]] = {kernel.id: [] for kernel in program.kernels}
    for buffer in program.buffers:
        buffers[buffer.kernel].append(buffer)
    areas = sorted(program.areas(), key=lambda area: min(area[1]))
    return tuple(_stretch(program, kernels, buffers) for _, kernels in areas)


def _stretch(
    program: Program, kernels: tuple[int, ...], buffers: dict[str, list[Buffer]]
) -> Stretch:
    names = tuple(program.kernels[index].id for index in kernels)
    mine = tuple(buffer for name in names for buffer in buffers[name])
    moments = tuple(f"turn {at:,} of {len(kernels):,}" for at in range(1, len(kernels) + 1))
    if len(kernels) == 1:
        ops = program.kernels[kernels[0]].spec.ops
        moments = tuple(f"operation {at:,} of {len(ops):,} ({operation_text(op)})"
                        for at, op in enumerate(ops, 1))  # fmt: skip
    change = np.zeros(len(moments) + 1, np.int64)
    for buffer in mine:
        change[buffer.live[0]] += buffer.size
        change[buffer.live[1] + 1] -= buffer.size
    allocated = max((buffer.offset + buffer.size for buffer in mine), default=0)
    return Stretch(names, mine, np.cumsum(change)[:-1], moments, allocated)
