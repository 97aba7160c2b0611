"""The rules of time for kernels: instances start, give and need chunks, stall, resume and end.

A visit does all that is due and possible at one cycle. Knows arrays and scalars only.
"""

from __future__ import annotations

from engine.jit import lean_kernel
from engine.timing.agenda import plan_visit, touch
from engine.timing.net import TimingNet
from engine.timing.rates import mark_stale
from engine.timing.state import NEVER, Sharing, State, Wiring


@lean_kernel
def visit_kernel(
    net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, kernel: int, now: int
) -> None:
    """Start, stall, resume or end the kernel's instance, and pass its due moments."""
    plan_visit(state, kernel, NEVER)
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
            soonest = state.base[kernel] + _next_moment(net, wiring, state, kernel)
            plan_visit(state, kernel, soonest)
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
            touch(state, len(net.length) + transfer)
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
def _moment(first: int, last: int, chunks: int, chunk: int) -> int:
    """Return the progress at which a chunk is needed or given."""
    if chunks == 1:
        return last
    return first + chunk * (last - first) // (chunks - 1)


@lean_kernel
def _free_slot(net: TimingNet, wiring: Wiring, state: State, use: int, now: int) -> None:
    """Give an in slot back."""
    state.freed_log[wiring.use_chunk_start[use] + state.freed[use]] = now
    state.freed[use] += 1
    touch(state, len(net.length) + wiring.use_transfer[use])


@lean_kernel
def _next_moment(net: TimingNet, wiring: Wiring, state: State, kernel: int) -> int:
    """Return the progress at which the instance gives or needs next, or ends."""
    soonest: int = net.length[kernel]
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
    for place in range(wiring.gated_start[kernel], wiring.gated_start[kernel + 1]):
        touch(state, len(net.length) + wiring.gated[place])
    region = wiring.region_of[kernel]
    first, size = net.region_start[region], net.region_start[region + 1] - net.region_start[region]
    state.turn[region] += 1
    touch(state, net.region_kernel[first + state.turn[region] % size])


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
        mark_stale(sharing, row)
