"""What is due when: the next moments of kernels and transfers, and the visits of one cycle."""

from __future__ import annotations

from engine.jit import lean_kernel
from engine.timing.state import BLOCK, NEVER, State


@lean_kernel
def plan_visit(state: State, item: int, cycle: int) -> None:
    """Note the next moment of a kernel or transfer."""
    state.at[item] = cycle
    if cycle < state.block_at[item // BLOCK]:
        state.block_at[item // BLOCK] = cycle


@lean_kernel
def next_cycle(state: State) -> int:
    """Return the cycle of the next moment of any kernel or transfer, NEVER if there is none."""
    soonest = NEVER
    for block in range(len(state.block_at)):
        if state.block_at[block] < soonest:
            earliest = NEVER
            for item in range(BLOCK * block, min(BLOCK * (block + 1), len(state.at))):
                earliest = min(earliest, state.at[item])
            state.block_at[block] = earliest
            soonest = min(soonest, earliest)
    return soonest


@lean_kernel
def touch_due(state: State, now: int) -> None:
    """Queue what is due in this cycle, the next one there is."""
    for block in range(len(state.block_at)):
        if state.block_at[block] == now:
            for item in range(BLOCK * block, min(BLOCK * (block + 1), len(state.at))):
                if state.at[item] == now:
                    touch(state, item)


@lean_kernel
def touch(state: State, item: int) -> None:
    """Queue an item for a visit in this cycle."""
    if state.queued[item] == 0:
        state.queued[item] = 1
        state.queue[state.tally[4]] = item
        state.tally[4] += 1
