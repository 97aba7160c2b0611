"""What is due when: the next moments of kernels and transfers, and the visits of one cycle."""

from __future__ import annotations

from engine.jit import lean_kernel
from engine.timing.state import NEVER, State


@lean_kernel
def next_cycle(state: State) -> int:
    """Return the cycle of the next moment of any kernel or transfer, NEVER if there is none."""
    soonest = NEVER
    for item in range(len(state.at)):
        soonest = min(soonest, state.at[item])
    return soonest


@lean_kernel
def touch(state: State, item: int) -> None:
    """Queue an item for a visit in this cycle."""
    if state.queued[item] == 0:
        state.queued[item] = 1
        state.queue[state.tally[4]] = item
        state.tally[4] += 1
