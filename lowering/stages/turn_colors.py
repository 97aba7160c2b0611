"""Colors of a program whose kernels take turns: routes are set anew for every turn.

The host's streams use the colors that the host interface keeps. Where more transfers are alive in
one turn than there are colors, transfers share one and take turns on it: what they move together
is at most one wavelet a cycle, which the engine shares evenly. Our simplification: handing a color
from one transfer to the next takes no cycle. Knows turns, no time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.machine import MachineSpec
from engine.program import HOST, Conflict, ConflictTerm, Leg, Transfer
from engine.transfers import busiest_words, transfer_patterns

KERNEL_COLORS = 3
"""colors kept for partial sums, row statistics and weights"""
HOST_COLORS = 2
"""one for what comes in from the host, one for what leaves"""


@dataclass(frozen=True, slots=True)
class TurnColors:
    """Colors of all transfers."""

    colors: tuple[int, ...]
    """one a transfer, in order"""
    used: int
    """different colors taken of those that are free on the machine"""
    sharing: tuple[tuple[int, ...], ...]
    """transfers that are alive in one turn and have one color, the largest such sets only"""


def host_color(transfer: Transfer, machine: MachineSpec) -> int | None:
    """Return the color of the host interface that carries a transfer, None for any other.

    A machine that keeps fewer than two colors for the host has none to offer.
    """
    free = machine.colors - machine.reserved_colors
    if machine.reserved_colors < HOST_COLORS:
        return None
    if transfer.producer == HOST:
        return free
    return free + 1 if HOST in transfer.consumers else None


def turn_colors(
    transfers: Sequence[Transfer], turns: Sequence[tuple[int, int]], machine: MachineSpec
) -> TurnColors:
    """Give each transfer, alive from its first to its last turn, a color."""
    free = max(1, machine.colors - machine.reserved_colors - KERNEL_COLORS)
    members: list[list[int]] = []
    alive: list[list[int]] = []
    colors = [0] * len(transfers)
    for index in sorted(range(len(transfers)), key=lambda i: turns[i]):
        kept = host_color(transfers[index], machine)
        if kept is not None:
            colors[index] = kept
            continue
        first, last = turns[index]
        alive = [[end for end in ends if end >= first] for ends in alive]
        place = min(range(len(members)), key=lambda c: (len(alive[c]), c), default=0)
        if len(members) < free and (not members or alive[place]):
            place = len(members)
            members.append([])
            alive.append([])
        members[place].append(index)
        alive[place].append(last)
        colors[index] = KERNEL_COLORS + place
    sharing = tuple(group for own in members for group in _meetings(own, turns))
    return TurnColors(tuple(colors), KERNEL_COLORS + len(members), sharing)


def _meetings(own: Sequence[int], turns: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return the largest sets of transfers of one color that are alive in one turn.

    `own` is sorted by first turn; a set is complete when one of it ends before the next begins.
    """
    found: list[tuple[int, ...]] = []
    alive: list[int] = []
    for index in own:
        still = [i for i in alive if turns[i][1] >= turns[index][0]]
        if len(still) < len(alive) and len(alive) > 1:
            found.append(tuple(alive))
        alive = [*still, index]
    if len(alive) > 1:
        found.append(tuple(alive))
    return found


@lru_cache(maxsize=8192)
def painted(legs: tuple[Leg, ...], color: int) -> tuple[Leg, ...]:
    """Return legs in a color; layers that repeat share them."""
    return tuple(replace(leg, color=color) for leg in legs)


def color_conflicts(
    transfers: Sequence[Transfer], sharing: Sequence[Sequence[int]]
) -> tuple[Conflict, ...]:
    """Return one load vector for each set of transfers that take turns on a color."""
    found = []
    known = {
        index: ConflictTerm(
            transfers[index].id, busiest_words(transfer_patterns(transfers[index].legs))
        )
        for index in dict.fromkeys(index for group in sharing for index in group)
    }
    for group in sharing:
        terms = [known[index] for index in group if known[index].words]
        if len(terms) > 1:
            leg = transfers[group[0]].legs[0]
            row, col = leg.lines_start, leg.src_start
            place = (row, col) if leg.axis == "x" else (col, row)
            found.append(Conflict("color", *place, tuple(terms)))
    return tuple(found)
