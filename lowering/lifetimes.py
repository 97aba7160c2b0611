"""How long activations live where kernels take turns, and which of them make the peak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.machine import DTYPE_BYTES
from engine.program import Program

_SHOWN = 5
"""activations that the text names, the largest at the peak first"""


@dataclass(frozen=True, slots=True)
class Activation:
    """A tensor between kernels that take turns."""

    tensor: str
    bytes: int
    """of one copy, over the whole wafer"""
    made_by: str
    last_read_by: str
    turns: int
    """turns from the one that makes it to the last that reads it, both included"""
    phase: str
    """phase of the training step that makes it, empty where nothing trains"""
    at_peak: bool
    """True when it is alive in the turn in which most bytes are"""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Every activation of a program, and the peak of all."""

    rows: tuple[Activation, ...] = ()
    """most byte-turns first"""
    peak_bytes: int = 0
    """most bytes alive in one turn, each tensor once"""
    peak_kernel: str = ""
    """kernel in whose turn"""

    def alive(self, kernels: Sequence[str]) -> list[int]:
        """Return the bytes alive in each kernel's turn, in running order."""
        place = {name: turn for turn, name in enumerate(kernels)}
        spans = [(r.tensor, place[r.made_by], place[r.last_read_by]) for r in self.rows]
        return _alive(spans, {row.tensor: row.bytes for row in self.rows}, len(kernels))

    def lines(self) -> list[str]:
        """Return what the report's text says; nothing without activations."""
        if not self.rows:
            return []
        found = [
            f"activations alive at once: at most {self.peak_bytes:,} B over the wafer, in the turn "
            f"of {self.peak_kernel}"
        ]
        peak = sorted((row for row in self.rows if row.at_peak), key=lambda row: -row.bytes)
        found += [
            f"    {row.tensor[:32]:<32} {row.bytes:>14,} B for {row.turns:,} turns, from "
            f"{row.made_by} to {row.last_read_by}"
            for row in peak[:_SHOWN]
        ]
        if len(peak) > _SHOWN:
            found.append(f"    and {len(peak) - _SHOWN:,} more")
        return found


def lifetimes(program: Program) -> Lifetimes:
    """Return the lifetimes of a program whose kernels take turns, none for a pipeline."""
    if program.mode != "streaming":
        return Lifetimes()
    kernels = program.kernels
    last = {name: turn for turn, kernel in enumerate(kernels) for name in kernel.reads}
    spans = [
        (name, turn, last[name])
        for turn, kernel in enumerate(kernels) for name in kernel.writes if name in last
    ]  # fmt: skip
    elements = {tensor.id: tensor.elements for tensor in program.tensors}
    sizes = {name: elements[name] * DTYPE_BYTES[program.storage] for name, _, _ in spans}
    alive = _alive(spans, sizes, len(kernels))
    peak = max(range(len(kernels)), key=lambda turn: alive[turn])
    phases = {kernel.id: dict(kernel.tags).get("phase", "") for kernel in kernels}
    rows = [
        Activation(
            name, sizes[name], kernels[born].id, kernels[dead].id, dead - born + 1,
            phases[kernels[born].id], born <= peak <= dead,
        )
        for name, born, dead in spans
    ]  # fmt: skip
    rows.sort(key=lambda row: (-row.bytes * row.turns, row.tensor))
    return Lifetimes(tuple(rows), alive[peak], kernels[peak].id)


def _alive(spans: Sequence[tuple[str, int, int]], sizes: dict[str, int], turns: int) -> list[int]:
    change = [0] * (turns + 1)
    for name, born, dead in spans:
        change[born] += sizes[name]
        change[dead + 1] -= sizes[name]
    return list(accumulate(change[:-1]))
