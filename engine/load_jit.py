"""Which flows meet where in one turn: the vectors of words that they put on one link or ramp.

A plane is cut at the ends of all patterns of the turn; inside a cell each pattern counts with its
most words there. Knows arrays and scalars only.
"""

from __future__ import annotations

import numpy as np

from engine.jit import lean_kernel
from engine.load_order import keep_undominated, put_in_order
from engine.load_state import BUCKETS, GROUPS, Desk, Patterns, Table

DONE, DESK_FULL, VECTORS_FULL, TERMS_FULL = 0, 1, 2, 3
"""why `meet` returned"""
GROUP_COUNT = len(GROUPS)


@lean_kernel
def meet(patterns: Patterns, desk: Desk, table: Table, turn: np.ndarray, stamp: int) -> int:
    """Leave the undominated vectors of a turn, its flows rising, on the desk.

    `stamp` rises from call to call; a turn whose room did not suffice is called again.
    """
    desk.tally[0] = 0
    for group in range(GROUP_COUNT):
        count = _gather(patterns, desk, turn, group)
        if count < 2:
            continue
        cells = _cut(patterns, desk, count)
        if desk.member_start[cells] > len(desk.member):
            return DESK_FULL
        _fill_cells(patterns, desk, count, cells)
        for cell in range(cells):
            why = _meet_in_cell(patterns, desk, table, cell, group, stamp)
            if why != DONE:
                return why
    put_in_order(desk, table)
    return DONE if keep_undominated(desk, table, turn) else DESK_FULL


@lean_kernel
def _gather(patterns: Patterns, desk: Desk, turn: np.ndarray, group: int) -> int:
    """List the turn's patterns of one group; return how many there are."""
    count = 0
    for flow in turn:
        for pattern in range(patterns.flow_start[flow], patterns.flow_start[flow + 1]):
            if patterns.group[pattern] == group:
                desk.live[count] = pattern
                count += 1
    return count


@lean_kernel
def _cut(patterns: Patterns, desk: Desk, count: int) -> int:
    """Cut the plane at the ends of its patterns and count each cell's members; return the cells."""
    low, high = patterns.start[desk.live[0]], 0
    for place in range(count):
        low = min(low, patterns.start[desk.live[place]])
        high = max(high, patterns.end[desk.live[place]])
    for position in range(low, high + 1):
        desk.mark[position] = 0
    for place in range(count):
        desk.mark[patterns.start[desk.live[place]]] = 1
        desk.mark[patterns.end[desk.live[place]]] = 1
    cells = -1
    for position in range(low, high + 1):
        if desk.mark[position] == 1:
            cells += 1
            desk.edge[cells] = position
            desk.cell[position] = cells
            desk.member_start[cells] = 0
    for place in range(count):
        first = desk.cell[patterns.start[desk.live[place]]]
        for cell in range(first, desk.cell[patterns.end[desk.live[place]]]):
            desk.member_start[cell + 1] += 1
    for cell in range(cells):
        desk.member_start[cell + 1] += desk.member_start[cell]
    return cells


@lean_kernel
def _fill_cells(patterns: Patterns, desk: Desk, count: int, cells: int) -> None:
    """Write the members of all cells, each with its most words there."""
    for cell in range(cells):
        desk.member_end[cell] = desk.member_start[cell]
    for place in range(count):
        pattern = desk.live[place]
        shift = patterns.words_start[pattern] - patterns.start[pattern]
        first = desk.cell[patterns.start[pattern]]
        for cell in range(first, desk.cell[patterns.end[pattern]]):
            most = 0
            for position in range(desk.edge[cell], desk.edge[cell + 1]):
                most = max(most, patterns.words[shift + position])
            desk.member[desk.member_end[cell]] = pattern
            desk.most[desk.member_end[cell]] = most
            desk.member_end[cell] += 1


@lean_kernel
def _meet_in_cell(
    patterns: Patterns, desk: Desk, table: Table, cell: int, group: int, stamp: int
) -> int:
    """Note the vector of every line of a cell at which a pattern begins."""
    low, high = desk.member_start[cell], desk.member_start[cell + 1]
    if high - low < 2:
        return DONE
    first = last = patterns.line[desk.member[low]]
    for place in range(low, high):
        line = patterns.line[desk.member[place]]
        desk.begins[line] = 1
        first, last = min(first, line), max(last, line)
    why = DONE
    for line in range(first, last + 1):
        if desk.begins[line] == 1:
            desk.begins[line] = 0
            count = _add_up(patterns, desk, low, high, line)
            if count > 1 and why == DONE:
                why = _note(desk, table, count, (group, line, desk.edge[cell]), stamp)
    return why


@lean_kernel
def _add_up(patterns: Patterns, desk: Desk, low: int, high: int, line: int) -> int:
    """Write the words of each flow on a line of a cell; return the flows, 0 if they always fit."""
    count, last, load = 0, -1, 0.0
    for place in range(low, high):
        pattern, most = desk.member[place], desk.most[place]
        if most == 0 or patterns.line[pattern] > line or patterns.end_line[pattern] <= line:
            continue
        flow = patterns.flow[pattern]
        if flow != last:
            desk.flow[count], desk.words[count] = flow, 0
            count, last = count + 1, flow
        desk.words[count - 1] += most
        load += most * patterns.weight[pattern]
    return count if load > 1 else 0


@lean_kernel
def _note(desk: Desk, table: Table, count: int, where: tuple[int, int, int], stamp: int) -> int:
    """Note the vector on the desk as met in this turn, a new one in the table."""
    bucket = 0
    for term in range(count):
        code = desk.flow[term] * 8191 + desk.words[term]
        bucket = ((bucket * 1000003) ^ code) & 0x7FFFFFFF
    bucket %= BUCKETS
    vector = table.bucket[bucket]
    while vector >= 0 and not _equals(desk, table, vector, count):
        vector = table.same_bucket[vector]
    if vector < 0:
        vector, start = table.tally[0], table.tally[1]
        if vector >= len(table.turn):
            return VECTORS_FULL
        if start + count > len(table.flow):
            return TERMS_FULL
        for term in range(count):
            table.flow[start + term] = desk.flow[term]
            table.words[start + term] = desk.words[term]
        table.same_bucket[vector], table.bucket[bucket] = table.bucket[bucket], vector
        table.tally[0], table.tally[1] = vector + 1, start + count
        table.term_start[vector + 1] = start + count
    if table.turn[vector] == stamp:
        return DONE
    if desk.tally[0] >= len(desk.found):
        return DESK_FULL
    table.turn[vector] = stamp
    desk.found[desk.tally[0]] = vector
    desk.tally[0] += 1
    for part in range(3):
        table.place[3 * vector + part] = where[part]
    return DONE


@lean_kernel
def _equals(desk: Desk, table: Table, vector: int, count: int) -> bool:
    """Whether a vector of the table is the one on the desk."""
    start = table.term_start[vector]
    if table.term_start[vector + 1] - start != count:
        return False
    for term in range(count):
        if table.flow[start + term] != desk.flow[term]:
            return False
        if table.words[start + term] != desk.words[term]:
            return False
    return True
