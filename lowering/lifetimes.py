"""How long activations live where kernels take turns, and which of them make the peak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from engine.kernels.views import views
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
    stays: tuple[tuple[int, int], ...]
    """first and last turns, from 0, of its stays on the wafer: one from the turn that makes it to
    the last that reads it, several where it waits outside in between"""
    returns: int
    """times it comes back from outside for a reader; 0: it never leaves"""
    phase: str
    """phase of the training step that makes it, empty where nothing trains"""
    at_peak: bool
    """True when it is alive in the turn in which most bytes are"""

    @property
    def turns(self) -> int:
        """turns in which it is on the wafer"""
        return sum(last - first + 1 for first, last in self.stays)

    @property
    def away(self) -> int:
        """turns in which it waits outside"""
        return self.stays[-1][1] - self.stays[0][0] + 1 - self.turns


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Every activation of a program, and the peak of all."""

    rows: tuple[Activation, ...] = ()
    """most byte-turns first"""
    peak_bytes: int = 0
    """most bytes alive in one turn, each tensor once"""
    peak_kernel: str = ""
    """kernel in whose turn"""
    left_bytes: int = 0
    """of activations that a sample sends out to wait; views of one result leave once"""
    back_bytes: int = 0
    """of activations that come back in a sample, once for each reader"""

    @property
    def outside(self) -> tuple[Activation, ...]:
        """activations that wait outside between their turns"""
        return tuple(row for row in self.rows if row.returns)

    def alive(self, turns: int) -> list[int]:
        """Return the bytes alive in each of all turns, in running order."""
        return _alive([(row.bytes, row.stays) for row in self.rows], turns)

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
            f"{row.made_by} to {row.last_read_by}{_outside(row)}"
            for row in peak[:_SHOWN]
        ]
        if len(peak) > _SHOWN:
            found.append(f"    and {len(peak) - _SHOWN:,} more")
        if self.outside:
            count = len(self.outside)
            told = "1 activation waits" if count == 1 else f"{count:,} activations wait"
            found.append(
                f"{told} outside between turns (knob spill_mb): a sample sends "
                f"{self.left_bytes:,} B out through the weight ports and takes "
                f"{self.back_bytes:,} B back"
            )
        return found


def _outside(row: Activation) -> str:
    return f", outside for {row.away:,} in between" if row.returns else ""


def lifetimes(program: Program) -> Lifetimes:
    """Return the lifetimes of a program whose kernels take turns, none for a pipeline."""
    if program.mode != "streaming":
        return Lifetimes()
    kernels = program.kernels
    found = _stays(program)
    returns = Counter(t.tensor for t in program.transfers if t.comes_back)
    elements = {tensor.id: tensor.elements for tensor in program.tensors}
    sizes = {name: elements[name] * DTYPE_BYTES[program.storage] for name in found}
    alive = _alive([(sizes[name], stays) for name, stays in found.items()], len(kernels))
    peak = max(range(len(kernels)), key=lambda turn: alive[turn])
    phases = {kernel.id: dict(kernel.tags).get("phase", "") for kernel in kernels}
    rows = [
        Activation(
            name, sizes[name], kernels[stays[0][0]].id, kernels[stays[-1][1]].id, stays,
            returns[name], phases[kernels[stays[0][0]].id],
            any(born <= peak <= dead for born, dead in stays),
        )
        for name, stays in found.items()
    ]  # fmt: skip
    rows.sort(key=lambda row: (-row.bytes * row.turns, row.tensor))
    left = sum(sizes[t.tensor] for t in program.transfers if t.leaves and returns[t.tensor])
    back = sum(sizes[name] * times for name, times in returns.items())
    return Lifetimes(tuple(rows), alive[peak], kernels[peak].id, left, back)


def _stays(program: Program) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the stays on the wafer of every tensor that a kernel makes and another reads."""
    place = {kernel.id: turn for turn, kernel in enumerate(program.kernels)}
    back: dict[str, dict[int, int]] = {}
    for transfer in program.transfers:
        if transfer.comes_back:
            reader = place[transfer.consumers[0]]
            back.setdefault(transfer.tensor, {})[reader] = place[transfer.after] + 1
    left = {t.tensor: place[t.until] - 1 for t in program.transfers
            if t.leaves and t.tensor in back}  # fmt: skip
    readers: dict[str, list[int]] = {}
    for turn, kernel in enumerate(program.kernels):
        for name in kernel.reads:
            readers.setdefault(name, []).append(turn)
    found = {}
    for turn, kernel in enumerate(program.kernels):
        seen = views(kernel.spec)
        of_root = {seen.get(name, name): left[name] for name in kernel.writes if name in left}
        gone = {name: of_root.get(seen.get(name, name), turn) for name in kernel.writes}
        for name in kernel.writes:
            if name in readers:
                far = back.get(name, {})
                near = [gone[name] if far else turn, *(at for at in readers[name] if at not in far)]
                found[name] = _joined([(turn, max(near)), *((far[at], at) for at in sorted(far))])
    return found


def _joined(stays: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return stays, in order, with those that meet as one."""
    found = [stays[0]]
    for first, last in stays[1:]:
        if first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def _alive(rows: Sequence[tuple[int, tuple[tuple[int, int], ...]]], turns: int) -> list[int]:
    change = [0] * (turns + 1)
    for size, stays in rows:
        for born, dead in stays:
            change[born] += size
            change[dead + 1] -= size
    return list(accumulate(change[:-1]))
