"""Which of a turn's load vectors count: those that no other covers term by term.

Knows arrays and scalars only.
"""

from __future__ import annotations

import numpy as np

from engine.jit import lean_kernel
from engine.load_state import Desk, Table


@lean_kernel
def put_in_order(desk: Desk, table: Table) -> None:
    """Sort the vectors of the turn: many terms first, then many words, then low flows."""
    count, width = desk.tally[0], 1
    while width < count:
        for low in range(0, count, 2 * width):
            _merge(desk, table, low, min(low + width, count), min(low + 2 * width, count))
        for place in range(count):
            desk.found[place] = desk.other[place]
        width *= 2


@lean_kernel
def _merge(desk: Desk, table: Table, low: int, middle: int, high: int) -> None:
    """Merge two neighbouring runs of `found` into `other`."""
    left, right = low, middle
    for place in range(low, high):
        if left < middle and (
            right >= high or not _is_before(table, desk.found[right], desk.found[left])
        ):
            desk.other[place] = desk.found[left]
            left += 1
        else:
            desk.other[place] = desk.found[right]
            right += 1


@lean_kernel
def _is_before(table: Table, one: int, other: int) -> bool:
    """Whether a vector comes before another that differs from it."""
    mine, theirs = table.term_start[one], table.term_start[other]
    count = table.term_start[one + 1] - mine
    others = table.term_start[other + 1] - theirs
    if count != others:
        return bool(count > others)
    for term in range(count):
        if table.words[mine + term] != table.words[theirs + term]:
            return bool(table.words[mine + term] > table.words[theirs + term])
    for term in range(count):
        if table.flow[mine + term] != table.flow[theirs + term]:
            return bool(table.flow[mine + term] < table.flow[theirs + term])
    return False


@lean_kernel
def keep_undominated(desk: Desk, table: Table, turn: np.ndarray) -> bool:
    """Keep the vectors that no earlier one covers; False, and nothing kept, if room is short.

    A vector that covers another has as many terms or more, so it comes before it.
    """
    terms = 0
    for place in range(desk.tally[0]):
        vector = desk.found[place]
        terms += table.term_start[vector + 1] - table.term_start[vector]
    if terms > len(desk.entry):
        return False
    desk.tally[1] = 0
    for flow in turn:
        desk.head[flow], desk.listed[flow] = -1, 0
    entries = 0
    for place in range(desk.tally[0]):
        vector = desk.found[place]
        if not _is_covered(desk, table, vector):
            entries = _list(desk, table, vector, entries)
    return True


@lean_kernel
def _is_covered(desk: Desk, table: Table, vector: int) -> bool:
    """Whether a kept vector has as many words or more of every flow; looks at the rarest flow's."""
    rarest = table.flow[table.term_start[vector]]
    for term in range(table.term_start[vector], table.term_start[vector + 1]):
        if desk.listed[table.flow[term]] < desk.listed[rarest]:
            rarest = table.flow[term]
    entry = desk.head[rarest]
    while entry >= 0:
        if _covers(table, desk.entry[entry], vector):
            return True
        entry = desk.next_entry[entry]
    return False


@lean_kernel
def _covers(table: Table, rival: int, vector: int) -> bool:
    """Whether a vector has as many words or more of every flow of another."""
    term, end = table.term_start[rival], table.term_start[rival + 1]
    for mine in range(table.term_start[vector], table.term_start[vector + 1]):
        while term < end and table.flow[term] < table.flow[mine]:
            term += 1
        if term == end or table.flow[term] != table.flow[mine]:
            return False
        if table.words[term] < table.words[mine]:
            return False
    return True


@lean_kernel
def _list(desk: Desk, table: Table, vector: int, entries: int) -> int:
    """Enter a vector among those kept and in the lists of its flows; return the entries."""
    for term in range(table.term_start[vector], table.term_start[vector + 1]):
        flow = table.flow[term]
        desk.entry[entries], desk.next_entry[entries] = vector, desk.head[flow]
        desk.head[flow] = entries
        desk.listed[flow] += 1
        entries += 1
    desk.kept[desk.tally[1]] = vector
    desk.tally[1] += 1
    return entries
