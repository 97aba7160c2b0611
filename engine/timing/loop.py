"""The loop of the step engine: from one cycle in which something happens to the next.

At one cycle everything due is visited, and what a visit makes possible is visited again, until
nothing changes: each counter only grows and has one claimant, so the order is of no effect.
Knows arrays and scalars only.
"""

from __future__ import annotations

from engine.jit import lean_kernel
from engine.timing.agenda import next_cycle, touch_due
from engine.timing.flows import set_rates, visit_transfer
from engine.timing.instances import visit_kernel
from engine.timing.net import TimingNet
from engine.timing.state import NEVER, Sharing, State, Wiring

PAUSED, STALLS_FULL, SEGMENTS_FULL, QUIET = range(4)
"""why `advance` returned: budget used up, a log without room for a cycle, no event pending"""


@lean_kernel
def advance(net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, budget: int) -> int:
    """Run up to `budget` cycles in which something happens."""
    kernels, transfers = len(net.length), len(net.words)
    for _ in range(budget):
        if 4 * (state.tally[2] + kernels) > len(state.stall_log):
            return STALLS_FULL
        if 6 * (state.tally[3] + transfers) > len(state.segment_log):
            return SEGMENTS_FULL
        now = next_cycle(state)
        if now == NEVER:
            return QUIET
        state.tally[0] = now
        touch_due(state, now)
        while state.tally[4] > 0:
            state.tally[4] -= 1
            item = state.queue[state.tally[4]]
            state.queued[item] = 0
            if item < kernels:
                visit_kernel(net, wiring, state, sharing, item, now)
            else:
                visit_transfer(net, wiring, state, sharing, item - kernels, now)
        set_rates(net, wiring, state, sharing, now)
    return PAUSED
