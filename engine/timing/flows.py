"""The rules of time for transfers: chunks start, move at a shared rate, leave and arrive.

A visit does all that is due and possible at one cycle. Knows arrays and scalars only.
"""

from __future__ import annotations

from engine.jit import lean_kernel
from engine.timing.agenda import plan_visit, touch
from engine.timing.net import RATE_UNIT, TimingNet
from engine.timing.rates import mark_stale, share_rates
from engine.timing.state import BLOCK, NEVER, Sharing, State, Wiring


@lean_kernel
def visit_transfer(
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
    """Whether the next chunk is given, the last has left, its gate is open and slots are free."""
    chunk = state.begun[transfer]
    if chunk >= state.given[transfer] or chunk > state.gone[transfer]:
        return False
    gate, sample = net.after[transfer], chunk // net.chunks[transfer]
    if gate >= 0 and state.end_log[gate * net.samples + sample] < 0:
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
        touch(state, net.producer[transfer])
    elif net.loader_workers > 0:
        _decode_more(net, state, now)


@lean_kernel
def _decode_more(net: TimingNet, state: State, now: int) -> None:
    """Begin to decode a sample for each one that has left the host whole."""
    whole = net.samples
    for transfer in range(len(net.words)):
        if net.producer[transfer] < 0:
            whole = min(whole, state.gone[transfer] // net.chunks[transfer])
    while state.taken[0] < whole:
        sample = state.taken[0] + net.loader_ahead
        state.taken[0] += 1
        if sample >= net.samples:
            continue
        began = max(now, state.ready[sample - net.loader_workers])
        state.ready[sample] = began + net.loader_cycles
        for transfer in range(len(net.words)):
            if net.producer[transfer] < 0:
                touch(state, len(net.length) + transfer)


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
                touch(state, net.use_kernel[use])


@lean_kernel
def _admit(net: TimingNet, wiring: Wiring, state: State, transfer: int, now: int) -> None:
    """Offer the host's samples that are there."""
    log, chunks = wiring.chunk_start[transfer], net.chunks[transfer]
    while state.given[transfer] < net.samples * chunks:
        ready = state.ready[state.given[transfer] // chunks]
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
        due = min(due, state.ready[state.given[transfer] // chunks])
    plan_visit(state, len(net.length) + transfer, due)


@lean_kernel
def _mark_stale(sharing: Sharing, transfer: int) -> None:
    """Note that the transfer came or went in its conflicts."""
    change = 1 if sharing.active[transfer] == 1 else -1
    for entry in range(sharing.row_start[transfer], sharing.row_start[transfer + 1]):
        mark_stale(sharing, sharing.row[entry])
        sharing.moving[sharing.row[entry]] += change


@lean_kernel
def set_rates(net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, now: int) -> None:
    """Share rates anew among transfers linked to those that came or went."""
    for block in range(len(sharing.stale_block)):
        if sharing.stale_block[block] == 0:
            continue
        sharing.stale_block[block] = 0
        for row in range(BLOCK * block, min(BLOCK * (block + 1), len(sharing.stale))):
            if sharing.stale[row] == 1:
                _share_anew(net, wiring, state, sharing, row, now)


@lean_kernel
def _share_anew(
    net: TimingNet, wiring: Wiring, state: State, sharing: Sharing, row: int, now: int
) -> None:
    """Set the rates of the transfers linked to a conflict."""
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
