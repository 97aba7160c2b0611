"""Max-min fair rates of the transfers that share links and ramps, in integers.

All open transfers rise at one level; a conflict that saturates or a cap that is reached fixes
its transfers, the others rise on. Sums stay within every capacity exactly. Knows no time.
"""

from __future__ import annotations

from engine.jit import jit_kernel
from engine.net import COEF_UNIT, RATE_UNIT, TimingNet
from engine.timing_state import State, Wiring

CAPACITY = RATE_UNIT * COEF_UNIT
"""one wavelet a cycle, in the unit of a rate times a coefficient"""


@jit_kernel
def share_rates(net: TimingNet, wiring: Wiring, state: State, group: int) -> int:
    """Write `state.share` of the active transfers of a group; return how many levels it took."""
    count, rows = _open_group(wiring, state, group)
    levels = 0
    while count > 0:
        level = _lowest_level(net, state, count, rows)
        count = _fix_transfers(net, wiring, state, count, level)
        levels += 1
    return levels


@jit_kernel
def _open_group(wiring: Wiring, state: State, group: int) -> tuple[int, int]:
    """List the active transfers and the conflicts they load."""
    count = 0
    rows = 0
    for place in range(wiring.group_start[group], wiring.group_start[group + 1]):
        transfer = wiring.group_transfer[place]
        if state.active[transfer] == 0:
            continue
        state.open[count] = transfer
        count += 1
        for entry in range(wiring.row_start[transfer], wiring.row_start[transfer + 1]):
            row = wiring.row[entry]
            if state.load[row] == 0:
                state.rows[rows] = row
                rows += 1
                state.room[row] = max(CAPACITY - state.reserved[row], 0)
            state.load[row] += wiring.row_coef[entry]
    return count, rows


@jit_kernel
def _lowest_level(net: TimingNet, state: State, count: int, rows: int) -> int:
    """Return the rate at which the next cap or conflict binds."""
    lowest = RATE_UNIT
    for place in range(count):
        lowest = min(lowest, net.cap[state.open[place]])
    for place in range(rows):
        row = state.rows[place]
        if state.load[row] > 0:
            state.level[row] = state.room[row] // state.load[row]
            lowest = min(lowest, state.level[row])
    return lowest


@jit_kernel
def _fix_transfers(net: TimingNet, wiring: Wiring, state: State, count: int, level: int) -> int:
    """Fix every transfer that `level` binds; return how many stay open.

    Conflicts are read by their levels as of the start, so the order of transfers is of no effect.
    """
    kept = 0
    for place in range(count):
        transfer = state.open[place]
        binds = net.cap[transfer] <= level
        for entry in range(wiring.row_start[transfer], wiring.row_start[transfer + 1]):
            if state.level[wiring.row[entry]] <= level:
                binds = True
        if not binds:
            state.open[kept] = transfer
            kept += 1
            continue
        state.share[transfer] = level
        for entry in range(wiring.row_start[transfer], wiring.row_start[transfer + 1]):
            row = wiring.row[entry]
            state.load[row] -= wiring.row_coef[entry]
            state.room[row] -= wiring.row_coef[entry] * level
    return kept
