"""The rules of time, one visit of a kernel or transfer at a time.

At one cycle everything due is visited, and what a visit makes possible is visited again, until
nothing changes: each counter only grows and has one claimant, so the order is of no effect.
Knows arrays and scalars only.
"""

from __future__ import annotations

from engine.jit import lean_kernel
from engine.net import RATE_UNIT, TimingNet
from engine.rates import share_rates
from engine.timing_state import NEVER, Sharing, State, Wiring

PAUSED, FULL, QUIET = 0, 1, 2
"""why `advance` returned: budget used up, logs full, no event pending"""


@lean_kernel
def advance(net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, budget: int) -> int:
    """Run up to `budget` cycles in which something happens."""
    kernels, transfers = len(net.length), len(net.words)
    for _ in range(budget):
        if 4 * (state.tally[2] + kernels) > len(state.stall_log):
            return FULL
        if 6 * (state.tally[3] + transfers) > len(state.segment_log):
            return FULL
        now = _next_cycle(state)
        if now == NEVER:
            return QUIET
        state.tally[0] = now
        for item in range(kernels + transfers):
            if state.at[item] == now:
                _touch(state, item)
        while state.tally[4] > 0:
            state.tally[4] -= 1
            item = state.queue[state.tally[4]]
            state.queued[item] = 0
            if item < kernels:
                _visit_kernel(net, wiring, state, sharing, item, now)
            else:
                _visit_transfer(net, wiring, state, sharing, item - kernels, now)
        _set_rates(net, wiring, state, sharing, now)
    return PAUSED


@lean_kernel
def _next_cycle(state: State) -> int:
    """Return the cycle of the next moment of any kernel or transfer, NEVER if there is none."""
    soonest = NEVER
    for item in range(len(state.at)):
        soonest = min(soonest, state.at[item])
    return soonest


@lean_kernel
def _touch(state: State, item: int) -> None:
    """Queue an item for a visit in this cycle."""
    if state.queued[item] == 0:
        state.queued[item] = 1
        state.queue[state.tally[4]] = item
        state.tally[4] += 1


@lean_kernel
def _moment(first: int, last: int, chunks: int, chunk: int) -> int:
    """Return the progress at which a chunk is needed or given."""
    if chunks == 1:
        return last
    return first + chunk * (last - first) // (chunks - 1)


@lean_kernel
def _visit_kernel(
    net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, kernel: int, now: int
) -> None:
    """Start, stall, resume or end the kernel's instance, and pass its due moments."""
    state.at[kernel] = NEVER
    if state.sample[kernel] < 0:
        if not _can_start(net, wiring, state, kernel):
            return
        region = wiring.region_of[kernel]
        first, end = net.region_start[region], net.region_start[region + 1]
        state.sample[kernel] = state.turn[region] // (end - first)
        state.base[kernel] = now
        state.start_log[kernel * net.samples + state.sample[kernel]] = now
    began = state.stalled[kernel]
    progress = (now if began < 0 else began) - state.base[kernel]
    blocked = _pass_gives(net, wiring, state, kernel, progress, now)
    blocked = _pass_needs(net, wiring, state, kernel, progress, now) or blocked
    if blocked:
        if began < 0:
            state.stalled[kernel] = now
    else:
        if began >= 0:
            _resume(state, kernel, now)
        if progress >= net.length[kernel]:
            _end_instance(net, wiring, state, kernel, now)
        else:
            state.at[kernel] = state.base[kernel] + _next_moment(net, wiring, state, kernel)
    _set_reserve(wiring, state, sharing, kernel)


@lean_kernel
def _can_start(net: TimingNet, wiring: Wiring, state: State, kernel: int) -> bool:
    """Whether it is the kernel's turn, its first chunks are here and an out slot is free each."""
    region = wiring.region_of[kernel]
    first, size = net.region_start[region], net.region_start[region + 1] - net.region_start[region]
    turn = state.turn[region]
    if turn >= size * net.samples or net.region_kernel[first + turn % size] != kernel:
        return False
    sample = turn // size
    for place in range(wiring.input_start[kernel], wiring.input_start[kernel + 1]):
        transfer = wiring.use_transfer[wiring.input_use[place]]
        if state.here[transfer] <= sample * net.chunks[transfer]:
            return False
    for place in range(wiring.output_start[kernel], wiring.output_start[kernel + 1]):
        transfer = wiring.output[place]
        if state.claimed[transfer] - state.gone[transfer] >= net.out_slots[transfer]:
            return False
    return True


@lean_kernel
def _pass_gives(
    net: TimingNet, wiring: Wiring, state: State, kernel: int, progress: int, now: int
) -> bool:
    """Claim out slots and give the chunks due; return whether a slot is missing."""
    blocked = False
    for place in range(wiring.output_start[kernel], wiring.output_start[kernel + 1]):
        transfer = wiring.output[place]
        chunks, log = net.chunks[transfer], wiring.chunk_start[transfer]
        chunk = state.given[transfer] - state.sample[kernel] * chunks
        first, last = net.give_first[transfer], net.give_last[transfer]
        while chunk < chunks:
            if state.claimed[transfer] == state.given[transfer]:
                if state.claimed[transfer] - state.gone[transfer] >= net.out_slots[transfer]:
                    blocked = True
                    break
                state.claimed_log[log + state.claimed[transfer]] = now
                state.claimed[transfer] += 1
            if _moment(first, last, chunks, chunk) > progress:
                break
            state.given_log[log + state.given[transfer]] = now
            state.given[transfer] += 1
            chunk += 1
            _touch(state, len(net.length) + transfer)
    return blocked


@lean_kernel
def _pass_needs(
    net: TimingNet, wiring: Wiring, state: State, kernel: int, progress: int, now: int
) -> bool:
    """Reach the needs due, freeing the slots before them; return whether a chunk is missing."""
    blocked = False
    for place in range(wiring.input_start[kernel], wiring.input_start[kernel + 1]):
        use = wiring.input_use[place]
        transfer = wiring.use_transfer[use]
        chunks, log = net.chunks[transfer], wiring.use_chunk_start[use]
        chunk = state.needed[use] - state.sample[kernel] * chunks
        first, last = net.need_first[use], net.need_last[use]
        while True:
            if chunk > 0 and state.here[transfer] < state.needed[use]:
                blocked = True
                break
            if chunk == chunks or _moment(first, last, chunks, chunk) > progress:
                break
            state.needed_log[log + state.needed[use]] = now
            state.needed[use] += 1
            if chunk > 0:
                _free_slot(net, wiring, state, use, now)
            chunk += 1
    return blocked


@lean_kernel
def _free_slot(net: TimingNet, wiring: Wiring, state: State, use: int, now: int) -> None:
    """Give an in slot back."""
    state.freed_log[wiring.use_chunk_start[use] + state.freed[use]] = now
    state.freed[use] += 1
    _touch(state, len(net.length) + wiring.use_transfer[use])


@lean_kernel
def _next_moment(net: TimingNet, wiring: Wiring, state: State, kernel: int) -> int:
    """Return the progress at which the instance gives or needs next, or ends."""
    soonest = net.length[kernel]
    sample = state.sample[kernel]
    for place in range(wiring.output_start[kernel], wiring.output_start[kernel + 1]):
        transfer = wiring.output[place]
        chunks = net.chunks[transfer]
        chunk = state.given[transfer] - sample * chunks
        if chunk < chunks:
            first, last = net.give_first[transfer], net.give_last[transfer]
            soonest = min(soonest, _moment(first, last, chunks, chunk))
    for place in range(wiring.input_start[kernel], wiring.input_start[kernel + 1]):
        use = wiring.input_use[place]
        chunks = net.chunks[wiring.use_transfer[use]]
        chunk = state.needed[use] - sample * chunks
        if chunk < chunks:
            first, last = net.need_first[use], net.need_last[use]
            soonest = min(soonest, _moment(first, last, chunks, chunk))
    return soonest


@lean_kernel
def _resume(state: State, kernel: int, now: int) -> None:
    """End a stall: later moments shift by its length."""
    began = state.stalled[kernel]
    state.stalled[kernel] = -1
    if now > began:
        row = 4 * state.tally[2]
        state.stall_log[row] = kernel
        state.stall_log[row + 1] = state.sample[kernel]
        state.stall_log[row + 2] = began
        state.stall_log[row + 3] = now
        state.tally[2] += 1
        state.base[kernel] += now - began


@lean_kernel
def _end_instance(net: TimingNet, wiring: Wiring, state: State, kernel: int, now: int) -> None:
    """End the instance: its last in slots are free, the region's next kernel may start."""
    state.end_log[kernel * net.samples + state.sample[kernel]] = now
    state.sample[kernel] = -1
    state.tally[1] += 1
    for place in range(wiring.input_start[kernel], wiring.input_start[kernel + 1]):
        _free_slot(net, wiring, state, wiring.input_use[place], now)
    region = wiring.region_of[kernel]
    first, size = net.region_start[region], net.region_start[region + 1] - net.region_start[region]
    state.turn[region] += 1
    _touch(state, net.region_kernel[first + state.turn[region] % size])


@lean_kernel
def _set_reserve(wiring: Wiring, state: State, sharing: Sharing, kernel: int) -> None:
    """Count the kernel's own traffic while it runs and is not stalled."""
    wanted = 1 if state.sample[kernel] >= 0 and state.stalled[kernel] < 0 else 0
    change = wanted - state.reserves[kernel]
    if change == 0:
        return
    state.reserves[kernel] = wanted
    for place in range(wiring.kernel_row_start[kernel], wiring.kernel_row_start[kernel + 1]):
        row = wiring.kernel_row[place]
        sharing.reserved[row] += change * wiring.kernel_row_rate[place]
        sharing.stale[row] = 1


@lean_kernel
def _visit_transfer(
    net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, transfer: int, now: int
) -> None:
    """Let the moving chunk leave, chunks arrive, the host offer and the next chunk start."""
    if state.leaves[transfer] == now:
        _log_segment(state, transfer, now)
        sharing.active[transfer] = 0
        _mark_stale(sharing, transfer)
        _leave(net, wiring, state, transfer, now)
    if net.producer[transfer] < 0:
        _admit(net, wiring, state, transfer, now)
    log = wiring.chunk_start[transfer]
    while _can_move(net, wiring, state, transfer):
        state.started_log[log + state.begun[transfer]] = now
        state.begun[transfer] += 1
        if net.words[transfer] == 0:
            _leave(net, wiring, state, transfer, now)
            continue
        sharing.active[transfer] = 1
        state.rate[transfer] = -1
        state.moved[transfer] = 0
        state.since[transfer] = now
        _mark_stale(sharing, transfer)
        if sharing.row_start[transfer] == sharing.row_start[transfer + 1]:
            _set_rate(net, state, transfer, net.cap[transfer], now)
    _arrive(net, wiring, state, transfer, now)
    _set_due(net, wiring, state, transfer)


@lean_kernel
def _can_move(net: TimingNet, wiring: Wiring, state: State, transfer: int) -> bool:
    """Whether the next chunk is given, the previous has left and each reader has a free slot."""
    chunk = state.begun[transfer]
    if chunk >= state.given[transfer] or chunk > state.gone[transfer]:
        return False
    for use in range(net.use_start[transfer], net.use_start[transfer + 1]):
        if net.use_kernel[use] >= 0 and chunk - state.freed[use] >= net.in_slots[use]:
            return False
    return True


@lean_kernel
def _leave(net: TimingNet, wiring: Wiring, state: State, transfer: int, now: int) -> None:
    """Note that a chunk has left: its out slot and its links are free."""
    state.left_log[wiring.chunk_start[transfer] + state.gone[transfer]] = now
    state.gone[transfer] += 1
    state.leaves[transfer] = NEVER
    if net.producer[transfer] >= 0:
        _touch(state, net.producer[transfer])


@lean_kernel
def _arrive(net: TimingNet, wiring: Wiring, state: State, transfer: int, now: int) -> None:
    """Note the chunks whose latency is over and call their readers."""
    log, before = wiring.chunk_start[transfer], state.here[transfer]
    while state.here[transfer] < state.gone[transfer]:
        chunk = log + state.here[transfer]
        if state.left_log[chunk] + net.latency[transfer] > now:
            break
        state.arrived_log[chunk] = now
        state.here[transfer] += 1
    if state.here[transfer] > before:
        for use in range(net.use_start[transfer], net.use_start[transfer + 1]):
            if net.use_kernel[use] >= 0:
                _touch(state, net.use_kernel[use])


@lean_kernel
def _admit(net: TimingNet, wiring: Wiring, state: State, transfer: int, now: int) -> None:
    """Offer the host's samples that are there."""
    log, chunks = wiring.chunk_start[transfer], net.chunks[transfer]
    while state.given[transfer] < net.samples * chunks:
        ready = state.given[transfer] // chunks * net.admit_every
        if ready > now:
            break
        state.claimed_log[log + state.given[transfer]] = ready
        state.given_log[log + state.given[transfer]] = ready
        state.given[transfer] += 1


@lean_kernel
def _set_due(net: TimingNet, wiring: Wiring, state: State, transfer: int) -> None:
    """Note the transfer's next moment: a departure, an arrival or a sample of the host."""
    due = state.leaves[transfer]
    if state.here[transfer] < state.gone[transfer]:
        left = state.left_log[wiring.chunk_start[transfer] + state.here[transfer]]
        due = min(due, left + net.latency[transfer])
    chunks = net.chunks[transfer]
    if net.producer[transfer] < 0 and state.given[transfer] < net.samples * chunks:
        due = min(due, state.given[transfer] // chunks * net.admit_every)
    state.at[len(net.length) + transfer] = due


@lean_kernel
def _mark_stale(sharing: Sharing, transfer: int) -> None:
    """Note that the transfer came or went in its conflicts."""
    for entry in range(sharing.row_start[transfer], sharing.row_start[transfer + 1]):
        sharing.stale[sharing.row[entry]] = 1


@lean_kernel
def _set_rates(net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, now: int) -> None:
    """Share rates anew among transfers linked to those that came or went."""
    for row in range(len(sharing.stale)):
        if sharing.stale[row] == 0:
            continue
        for place in range(share_rates(sharing, row)):
            transfer = sharing.found[place]
            if sharing.share[transfer] != state.rate[transfer]:
                _set_rate(net, state, transfer, sharing.share[transfer], now)
                _set_due(net, wiring, state, transfer)


@lean_kernel
def _set_rate(net: TimingNet, state: State, transfer: int, rate: int, now: int) -> None:
    """Move the chunk at a new rate from now on."""
    if state.since[transfer] < now:
        _log_segment(state, transfer, now)
        state.moved[transfer] += state.rate[transfer] * (now - state.since[transfer])
        state.since[transfer] = now
    state.rate[transfer] = rate
    state.leaves[transfer] = NEVER
    if rate > 0:
        rest = net.words[transfer] * RATE_UNIT - state.moved[transfer]
        state.leaves[transfer] = now + (rest + rate - 1) // rate


@lean_kernel
def _log_segment(state: State, transfer: int, now: int) -> None:
    """Write down the span that the rate held."""
    row = 6 * state.tally[3]
    state.segment_log[row] = transfer
    state.segment_log[row + 1] = state.begun[transfer] - 1
    state.segment_log[row + 2] = state.since[transfer]
    state.segment_log[row + 3] = now
    state.segment_log[row + 4] = state.rate[transfer]
    state.segment_log[row + 5] = state.moved[transfer]
    state.tally[3] += 1
