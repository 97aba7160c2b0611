"""What each event waited for last: candidate predecessors by the rules of time, latest kept.

Where candidates tie, all of them are kept. Nothing here depends on the order in which the run
visited things.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.event_kinds import ARRIVES, END, GIVEN, LEFT, MOVES, NEEDED, RESUME, STALL, START
from engine.timing.net import TimingNet
from engine.timing.state import State, Wiring

Edges = Iterator[tuple[np.ndarray, np.ndarray]]
"""(events, predecessors), equally long; a negative predecessor is none"""


class Runs(NamedTuple):
    """The run's logs by family; the families' events are numbered one after the other."""

    net: TimingNet
    wiring: Wiring
    state: State
    stalls: np.ndarray
    """(n, 4) kernel, sample, start, end; sorted by start, then kernel"""
    chunk_transfer: np.ndarray
    """(N,) transfer of a chunk"""
    chunk_use: np.ndarray
    """use of a use's chunk"""
    base: dict[int, int]
    """first event number of each kind"""


def place_in_sample(
    runs: Runs, owner: np.ndarray, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sample and chunk within it of each place of an array over chunks."""
    transfer = owner if start is runs.wiring.chunk_start else runs.wiring.use_transfer[owner]
    sample, chunk = np.divmod(np.arange(len(owner)) - start[owner], runs.net.chunks[transfer])
    return sample, chunk


def chunk_of_use(runs: Runs) -> np.ndarray:
    """Place among the transfers' chunks of each place among the uses' chunks."""
    wiring = runs.wiring
    index = np.arange(len(runs.chunk_use)) - wiring.use_chunk_start[runs.chunk_use]
    place: np.ndarray = wiring.chunk_start[wiring.use_transfer[runs.chunk_use]] + index
    return place


def edges(runs: Runs) -> Edges:
    yield from _region_edges(runs)
    yield from _first_chunk_edges(runs)
    yield from _anchor_edges(runs)
    yield from _slot_edges(runs)
    yield from _input_resume_edges(runs)
    yield from _output_resume_edges(runs)
    yield from _chunk_edges(runs)
    if runs.net.loader_workers:
        yield from _loader_edges(runs)


def _region_edges(runs: Runs) -> Edges:
    """A start waits for the instance before it on the region."""
    net = runs.net
    for first, end in zip(net.region_start.tolist(), net.region_start.tolist()[1:], strict=False):
        order = net.region_kernel[first:end]
        turns = (order[None, :] * net.samples + np.arange(net.samples)[:, None]).ravel()
        yield runs.base[START] + turns[1:], runs.base[END] + turns[:-1]


def _first_chunk_edges(runs: Runs) -> Edges:
    """A start waits for the first chunk of each input and for an out slot of each output."""
    net, wiring = runs.net, runs.wiring
    for sample in range(net.samples):
        uses = np.flatnonzero(net.use_kernel >= 0)
        transfers = wiring.use_transfer[uses]
        first = wiring.chunk_start[transfers] + sample * net.chunks[transfers]
        starts = runs.base[START] + net.use_kernel[uses] * net.samples + sample
        yield starts, runs.base[ARRIVES] + first
        transfers = np.flatnonzero(net.producer >= 0)
        index = sample * net.chunks[transfers] - net.out_slots[transfers]
        left = runs.base[LEFT] + wiring.chunk_start[transfers] + index
        starts = runs.base[START] + net.producer[transfers] * net.samples + sample
        yield starts, np.where(index >= 0, left, -1)


def _anchor_edges(runs: Runs) -> Edges:
    """Moments inside an instance follow its last resume, or its start."""
    net, wiring, state, stalls = runs.net, runs.wiring, runs.state, runs.stalls
    kernels, samples = np.divmod(np.arange(len(state.start_log)), net.samples)
    chunk_sample, _ = place_in_sample(runs, runs.chunk_transfer, wiring.chunk_start)
    use_sample, _ = place_in_sample(runs, runs.chunk_use, wiring.use_chunk_start)
    giver, reader = net.producer[runs.chunk_transfer], net.use_kernel[runs.chunk_use]
    order = np.lexsort((stalls[:, 3], stalls[:, 0]))
    span = int(state.end_log.max(initial=0)) + 1
    keys = stalls[order, 0] * span + stalls[order, 3]
    for kind, kernel, sample, time in (
        (END, kernels, samples, state.end_log),
        (GIVEN, giver, chunk_sample, state.given_log),
        (NEEDED, reader, use_sample, state.needed_log),
        (STALL, stalls[:, 0], stalls[:, 1], stalls[:, 2]),
    ):
        mine = np.flatnonzero(kernel >= 0)
        instance = kernel[mine] * net.samples + sample[mine]
        last = np.searchsorted(keys, kernel[mine] * span + time[mine], side="right") - 1
        anchor = runs.base[START] + instance
        if len(order):
            stall = order[np.maximum(last, 0)]
            same = (stalls[stall, 0] == kernel[mine]) & (stalls[stall, 1] == sample[mine])
            anchor = np.where((last >= 0) & same, runs.base[RESUME] + stall, anchor)
        yield runs.base[kind] + mine, anchor


def _slot_edges(runs: Runs) -> Edges:
    """What came the moment it was possible, in the middle of a stall, follows what made it so."""
    net, wiring, state = runs.net, runs.wiring, runs.state
    transfer = runs.chunk_transfer
    index = np.arange(len(transfer)) - wiring.chunk_start[transfer]
    waited = (net.producer[transfer] >= 0) & (index >= net.out_slots[transfer])
    waited &= (index % net.chunks[transfer] > 0) & (state.claimed_log == state.given_log)
    chunks = np.flatnonzero(waited)
    yield runs.base[GIVEN] + chunks, runs.base[LEFT] + chunks - net.out_slots[transfer[chunks]]
    place = chunk_of_use(runs)
    chunk = np.arange(len(place)) - wiring.use_chunk_start[runs.chunk_use]
    chunk %= net.chunks[wiring.use_transfer[runs.chunk_use]]
    waited = (chunk > 0) & (net.use_kernel[runs.chunk_use] >= 0)
    waited &= state.needed_log == state.arrived_log[place - (chunk > 0)]
    uses = np.flatnonzero(waited)
    yield runs.base[NEEDED] + uses, runs.base[ARRIVES] + place[uses] - 1


def _pairs(start: np.ndarray, members: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every (place in `rows`, member) of the CSR rows named."""
    counts = np.diff(start)[rows]
    place = np.repeat(np.arange(len(rows)), counts)
    offset = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    return place, members[start[rows][place] + offset]


def _first_at(
    runs: Runs, transfer: np.ndarray, times: np.ndarray, moment: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(place, found) of the first chunk of a transfer whose time in a chunk log is `moment`."""
    span = int(runs.state.arrived_log.max(initial=0)) + 2 + int(moment.max(initial=0))
    keys = runs.chunk_transfer * span + times
    place = np.searchsorted(keys, transfer * span + moment)
    inside = np.minimum(place, max(len(keys) - 1, 0))
    return inside, keys[inside] == transfer * span + moment


def _input_resume_edges(runs: Runs) -> Edges:
    """A resume follows the arrivals that ended the stall."""
    net, wiring, stalls = runs.net, runs.wiring, runs.stalls
    stall, use = _pairs(wiring.input_start, wiring.input_use, stalls[:, 0])
    if len(stall) == 0:
        return
    transfer = wiring.use_transfer[use]
    place, found = _first_at(runs, transfer, runs.state.arrived_log, stalls[stall, 3])
    index = place - wiring.chunk_start[transfer]
    found &= index // net.chunks[transfer] == stalls[stall, 1]
    needed = runs.state.needed_log[wiring.use_chunk_start[use] + np.where(found, index, 0)]
    found &= (needed >= stalls[stall, 2]) & (needed <= stalls[stall, 3])
    yield runs.base[RESUME] + stall[found], runs.base[ARRIVES] + place[found]


def _output_resume_edges(runs: Runs) -> Edges:
    """A resume follows the departures that freed the slots it lacked."""
    net, wiring, stalls = runs.net, runs.wiring, runs.stalls
    stall, transfer = _pairs(wiring.output_start, wiring.output, stalls[:, 0])
    if len(stall) == 0:
        return
    place, found = _first_at(runs, transfer, runs.state.claimed_log, stalls[stall, 3])
    index = place - wiring.chunk_start[transfer]
    found &= (index // net.chunks[transfer] == stalls[stall, 1]) & (
        index % net.chunks[transfer] > 0
    )
    found &= index >= net.out_slots[transfer]
    left = place - np.where(found, net.out_slots[transfer], 0)
    yield runs.base[RESUME] + stall[found], runs.base[LEFT] + left[found]


def _chunk_edges(runs: Runs) -> Edges:
    """A chunk moves when given, when the one before has left and when each reader has room."""
    net, wiring = runs.net, runs.wiring
    chunks = np.arange(len(runs.chunk_transfer))
    index = chunks - wiring.chunk_start[runs.chunk_transfer]
    yield runs.base[MOVES] + chunks, runs.base[GIVEN] + chunks
    yield runs.base[MOVES] + chunks, np.where(index > 0, runs.base[LEFT] + chunks - 1, -1)
    gate, sample = net.after[runs.chunk_transfer], index // net.chunks[runs.chunk_transfer]
    ended = runs.base[END] + gate * net.samples + sample
    yield runs.base[MOVES] + chunks, np.where(gate >= 0, ended, -1)
    yield runs.base[LEFT] + chunks, runs.base[MOVES] + chunks
    yield runs.base[ARRIVES] + chunks, runs.base[LEFT] + chunks
    use = runs.chunk_use
    kernel, per_sample = net.use_kernel[use], net.chunks[wiring.use_transfer[use]]
    freed = np.arange(len(use)) - wiring.use_chunk_start[use] - net.in_slots[use]
    sample, chunk = np.divmod(freed, per_sample)
    by_need = runs.base[NEEDED] + np.arange(len(use)) - net.in_slots[use] + 1
    by_end = runs.base[END] + kernel * net.samples + sample
    source = np.where(chunk == per_sample - 1, by_end, by_need)
    yield runs.base[MOVES] + chunk_of_use(runs), np.where((freed >= 0) & (kernel >= 0), source, -1)


def _loader_edges(runs: Runs) -> Edges:
    """A decoded sample follows the one its worker did before, and the one that made room."""
    net, transfer = runs.net, runs.chunk_transfer
    chunks = np.flatnonzero(net.producer[transfer] < 0)
    per_sample = net.chunks[transfer[chunks]]
    sample = (chunks - runs.wiring.chunk_start[transfer[chunks]]) // per_sample
    given, before = runs.base[GIVEN] + chunks, chunks - net.loader_workers * per_sample
    yield given, np.where(sample >= net.loader_workers, runs.base[GIVEN] + before, -1)
    left = sample - net.loader_ahead
    for host in np.flatnonzero(net.producer < 0):
        last = runs.wiring.chunk_start[host] + (left + 1) * net.chunks[host] - 1
        yield given, np.where(left >= 0, runs.base[LEFT] + last, -1)


def latest(
    time: np.ndarray, place: np.ndarray, edges: Edges, events: int
) -> tuple[np.ndarray, np.ndarray]:
    """CSR over sorted events of the predecessors with the latest time."""
    pairs = [(np.asarray(event), np.asarray(source)) for event, source in edges]
    event = np.concatenate([np.zeros(0, np.int64), *(pair[0] for pair in pairs)]).astype(np.int64)
    source = np.concatenate([np.zeros(0, np.int64), *(pair[1] for pair in pairs)]).astype(np.int64)
    event, source = event[source >= 0], source[source >= 0]
    latest = np.full(len(time), -1, np.int64)
    np.maximum.at(latest, event, time[source])
    tied = time[source] == latest[event]
    unique = np.unique(place[event[tied]] * max(len(time), 1) + place[source[tied]])
    rows, because = np.divmod(unique, max(len(time), 1))
    start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=events)[:events])])
    return start.astype(np.int64), because.astype(np.int64)
