"""From legs to patterns: a pattern is a rectangle of PEs with the same words on every line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import ModuleType

import numpy as np

from engine.geometry import Split
from engine.machine import MachineSpec
from engine.program import Leg
from engine.transfers import broadcast, exchange, reduce
from engine.transfers.lines import LineFlow, Span

LEG_KINDS: dict[str, ModuleType] = {
    "shift": exchange,
    "spread": exchange,
    "collect": exchange,
    "exchange": exchange,
    "host": exchange,
    "broadcast": broadcast,
    "host broadcast": broadcast,
    "reduce": reduce,
}
"""leg kind -> the module that knows its flow"""

_PLANES = {"x": ("east", "west"), "y": ("south", "north")}


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Words on one plane: `words[i]` at position start + i of every line."""

    plane: str
    """name in `engine.metrics.PLANES`"""
    axis: str
    """x: positions are columns, lines are rows; y: the other way round"""
    lines_start: int
    lines: int
    start: int
    words: np.ndarray
    """int64 (positions,), read-only"""

    @property
    def rect(self) -> tuple[int, int, int, int]:
        """(row, col, end_row, end_col) of the PEs concerned"""
        along = (self.start, self.start + len(self.words))
        across = (self.lines_start, self.lines_start + self.lines)
        rows, cols = (across, along) if self.axis == "x" else (along, across)
        return rows[0], cols[0], rows[1], cols[1]

    def total(self) -> int:
        """Return the words summed over all PEs of the pattern."""
        return _line_words(self) * self.lines


@lru_cache(maxsize=32768)
def _line_words(pattern: Pattern) -> int:
    """Sum over positions, once for all flows that share a pattern."""
    return int(pattern.words.sum())


@lru_cache(maxsize=32768)
def _most_words(pattern: Pattern) -> int:
    """Most words at a position."""
    return int(pattern.words.max())


@lru_cache(maxsize=8192)
def _line(kind: str, span: Span) -> LineFlow:
    flow: Callable[[Span], LineFlow] = LEG_KINDS[kind].flow
    found = flow(span)
    for words in (found.forward, found.backward, found.inject, found.deliver):
        words.flags.writeable = False
    return found


def _span(leg: Leg, words: int) -> tuple[int, Span]:
    start = min(leg.src_start, leg.dst_start)
    length = max(leg.src_start + leg.src, leg.dst_start + leg.dst) - start
    span = Span(
        words, length, leg.src_start - start, leg.src, leg.dst_start - start, leg.dst,
        leg.groups, leg.share,
    )  # fmt: skip
    return start, span


def leg_patterns(leg: Leg, *, inject: bool = True, deliver: bool = True) -> list[Pattern]:
    """Return the patterns of a leg; ramps only where words enter or leave the fabric."""
    return list(_patterns(leg, inject, deliver))


@lru_cache(maxsize=16384)
def _patterns(leg: Leg, inject: bool, deliver: bool) -> tuple[Pattern, ...]:
    """A leg says all that its patterns depend on, so a knob that leaves it alone finds them."""
    found: list[Pattern] = []
    ahead, back = _PLANES[leg.axis]
    for first, count, words in Split(leg.words, leg.lines).runs():
        start, span = _span(leg, words)
        line = _line(leg.kind, span)
        planes = [(ahead, line.forward), (back, line.backward)]
        planes += [("inject", line.inject)] if inject else []
        planes += [("deliver", line.deliver)] if deliver else []
        for plane, on_line in planes:
            used = np.flatnonzero(on_line)
            if used.size:
                low, high = int(used[0]), int(used[-1]) + 1
                found.append(
                    Pattern(
                        plane, leg.axis, leg.lines_start + first, count, start + low,
                        on_line[low:high],
                    )
                )  # fmt: skip
    return tuple(found)


def transfer_patterns(legs: Sequence[Leg]) -> list[Pattern]:
    """Return the patterns of a chain of legs: words are injected once and delivered once."""
    found: list[Pattern] = []
    for index, leg in enumerate(legs):
        found += leg_patterns(leg, inject=index == 0, deliver=index == len(legs) - 1)
    return found


def busiest_words(patterns: Sequence[Pattern]) -> int:
    """Return the words on the busiest link or ramp of a transfer."""
    return max(map(_most_words, patterns), default=0)


def leg_latency(leg: Leg, machine: MachineSpec) -> int:
    """Return the cycles a wavelet spends on the links of a leg's longest way."""
    if leg.words == 0:
        return 0
    hops: Callable[[Span], int] = LEG_KINDS[leg.kind].hops
    return max(0, hops(_span(leg, leg.words)[1])) * machine.hop_cycles


def transfer_latency(legs: Sequence[Leg], machine: MachineSpec) -> int:
    """Return the cycles from core to core over all legs: ramps, hops and turns."""
    if not legs:
        return 0
    turns = sum(a.axis != b.axis for a, b in pairwise(legs))
    travel = sum(leg_latency(leg, machine) for leg in legs)
    return travel + turns * machine.turn_cycles + 2 * machine.ramp_cycles
