"""Max-min fair rates of the transfers that share links and ramps, in integers.

All open transfers rise at one level; a conflict that saturates or a cap that is reached fixes
its transfers, the others rise on. Sums stay within every capacity exactly. Knows no time.
"""

from __future__ import annotations

from engine.jit import lean_kernel
from engine.timing.net import COEF_UNIT, RATE_UNIT
from engine.timing.state import BLOCK, Sharing

CAPACITY = RATE_UNIT * COEF_UNIT
"""one wavelet a cycle, in the unit of a rate times a coefficient"""


@lean_kernel
def mark_stale(sharing: Sharing, row: int) -> None:
    """Note that a transfer or a reserve came or went in a conflict."""
    sharing.stale[row] = 1
    sharing.stale_block[row // BLOCK] = 1


@lean_kernel
def share_rates(sharing: Sharing, row: int) -> int:
    """Write `share` of the active transfers linked to a conflict, directly or through others.

    Returns how many there are; `found` lists them.
    """
    found, rows = _find_linked(sharing, row)
    count = found
    while count > 0:
        level = _lowest_level(sharing, count, rows)
        count = _fix_transfers(sharing, count, level)
    return found


@lean_kernel
def _find_linked(sharing: Sharing, row: int) -> tuple[int, int]:
    """List active transfers and the conflicts they load, from one conflict outwards."""
    sharing.rows[0] = row
    sharing.stale[row] = 0
    sharing.level[row] = -1
    rows, found, place = 1, 0, 0
    while place < rows:
        row = sharing.rows[place]
        place += 1
        sharing.room[row] = max(CAPACITY - sharing.reserved[row], 0)
        if place > 1 and sharing.moving[row] == 1:
            continue
        seen, entry = 0, sharing.member_start[row] - 1
        while seen < sharing.moving[row]:
            entry += 1
            transfer = sharing.member[entry]
            if sharing.active[transfer] == 0:
                continue
            seen += 1
            sharing.load[row] += sharing.member_coef[entry]
            if sharing.share[transfer] >= 0:
                sharing.share[transfer] = -1
                sharing.found[found] = sharing.open[found] = transfer
                found += 1
                rows = _list_rows(sharing, transfer, rows)
    if found == 0:
        sharing.level[row] = 0
    return found, rows


@lean_kernel
def _list_rows(sharing: Sharing, transfer: int, rows: int) -> int:
    """List the transfer's conflicts that are not listed yet; return how many there are now.

    A level of -1 marks a conflict as listed until its level is known. One in which nothing else
    moves is loaded here, so that its members need not be looked through.
    """
    for entry in range(sharing.row_start[transfer], sharing.row_start[transfer + 1]):
        other = sharing.row[entry]
        if sharing.level[other] >= 0:
            sharing.level[other] = -1
            sharing.rows[rows] = other
            sharing.stale[other] = 0
            rows += 1
            if sharing.moving[other] == 1:
                sharing.load[other] += sharing.row_coef[entry]
    return rows


@lean_kernel
def _lowest_level(sharing: Sharing, count: int, rows: int) -> int:
    """Return the rate at which the next cap or conflict binds."""
    lowest = RATE_UNIT
    for place in range(count):
        lowest = min(lowest, sharing.cap[sharing.open[place]])
    for place in range(rows):
        row = sharing.rows[place]
        if sharing.load[row] > 0:
            sharing.level[row] = sharing.room[row] // sharing.load[row]
            lowest = min(lowest, sharing.level[row])
    return lowest


@lean_kernel
def _fix_transfers(sharing: Sharing, count: int, level: int) -> int:
    """Fix every transfer that `level` binds; return how many stay open.

    Conflicts are read by their levels as of the start, so the order of transfers is of no effect.
    """
    kept = 0
    for place in range(count):
        transfer = sharing.open[place]
        first, end = sharing.row_start[transfer], sharing.row_start[transfer + 1]
        binds = sharing.cap[transfer] <= level
        for entry in range(first, end):
            if sharing.level[sharing.row[entry]] <= level:
                binds = True
        if not binds:
            sharing.open[kept] = transfer
            kept += 1
            continue
        sharing.share[transfer] = level
        for entry in range(first, end):
            row = sharing.row[entry]
            sharing.load[row] -= sharing.row_coef[entry]
            sharing.room[row] -= sharing.row_coef[entry] * level
    return kept
