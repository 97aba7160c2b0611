"""From the logs of a run to its events and what each of them waited for last.

Numbers the events, sorts them, and wraps everything as a `Timeline`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from engine.causes import first_missing
from engine.event_kinds import (
    ARRIVES,
    END,
    GIVEN,
    LEFT,
    MOVES,
    NEEDED,
    RESUME,
    STALL,
    START,
)
from engine.timeline import Timeline
from engine.timing.because import Runs, chunk_of_use, edges, latest, place_in_sample
from engine.timing.net import TimingNet
from engine.timing.state import State, Wiring

_ORDER = (LEFT, ARRIVES, NEEDED, GIVEN, RESUME, END, STALL, START, MOVES)
"""fixed order of kinds within a cycle: mostly effects after what they waited for"""


class Events(NamedTuple):
    """Events before sorting, columns equally long."""

    time: np.ndarray
    kind: np.ndarray
    subject: np.ndarray
    sample: np.ndarray
    chunk: np.ndarray


def build_timeline(net: TimingNet, wiring: Wiring, state: State) -> Timeline:
    """Wrap a finished run."""
    runs = _sort_runs(net, wiring, state)
    events = _list_events(runs)
    used = np.flatnonzero(events.time >= 0)
    key = np.argsort(_ORDER)[events.kind[used]]
    columns = (events.chunk, events.sample, events.subject)
    order = used[np.lexsort((*(column[used] for column in columns), key, events.time[used]))]
    place = np.full(len(events.time), -1, np.int64)
    place[order] = np.arange(len(order))
    because_start, because = latest(events.time, place, edges(runs), len(order))
    sorted_events = Events(*(column[order] for column in events))
    resumes = place[runs.base[RESUME] + np.arange(len(runs.stalls))]
    cause, transfer = first_missing(
        resumes, runs.stalls[:, 2], sorted_events.kind, sorted_events.subject,
        because_start, because, net.producer, _given_of(runs, sorted_events),
    )  # fmt: skip
    times = np.unique(np.concatenate([[0], sorted_events.time])).astype(np.int64)
    shape = (len(net.length), net.samples)
    sink = net.use_kernel[runs.chunk_use] < 0
    arrived = state.arrived_log[chunk_of_use(runs)]
    return Timeline(
        samples=net.samples, makespan=int(times[-1]), times=times,
        start=state.start_log.reshape(shape), end=state.end_log.reshape(shape),
        stall_kernel=runs.stalls[:, 0].copy(), stall_sample=runs.stalls[:, 1].copy(),
        stall_start=runs.stalls[:, 2].copy(), stall_end=runs.stalls[:, 3].copy(),
        stall_cause=cause, stall_transfer=transfer,
        chunk_words=net.words, chunk_start=wiring.chunk_start, claimed=state.claimed_log,
        given=state.given_log, started=state.started_log, left=state.left_log,
        arrived=state.arrived_log, use_kernel=net.use_kernel, use_transfer=wiring.use_transfer,
        use_chunk_start=wiring.use_chunk_start,
        needed=np.where(sink, arrived, state.needed_log),
        freed=np.where(sink, arrived, state.freed_log),
        **_segments(state, len(net.words)),
        event_time=sorted_events.time, event_kind=sorted_events.kind,
        event_subject=sorted_events.subject, event_sample=sorted_events.sample,
        event_chunk=sorted_events.chunk, because_start=because_start, because=because,
    )  # fmt: skip


def _sort_runs(net: TimingNet, wiring: Wiring, state: State) -> Runs:
    stalls = state.stall_log[: 4 * int(state.tally[2])].reshape(-1, 4)
    stalls = stalls[np.lexsort((stalls[:, 0], stalls[:, 2]))]
    chunks, use_chunks = len(state.given_log), len(state.needed_log)
    sizes = {
        START: len(state.start_log), STALL: len(stalls), RESUME: len(stalls),
        END: len(state.end_log), MOVES: chunks, LEFT: chunks, GIVEN: chunks,
        NEEDED: use_chunks, ARRIVES: chunks,
    }  # fmt: skip
    firsts = np.concatenate([[0], np.cumsum(list(sizes.values()))]).tolist()
    return Runs(
        net, wiring, state, stalls,
        np.repeat(np.arange(len(net.words)), np.diff(wiring.chunk_start)),
        np.repeat(np.arange(len(net.use_kernel)), np.diff(wiring.use_chunk_start)),
        dict(zip(sizes, firsts, strict=False)),
    )  # fmt: skip


def _list_events(runs: Runs) -> Events:
    """Number every event; those that do not exist (needs of the host sink) have time -1."""
    net, state, stalls = runs.net, runs.state, runs.stalls
    kernels, samples = np.divmod(np.arange(len(state.start_log)), net.samples)
    sample, chunk = place_in_sample(runs, runs.chunk_transfer, runs.wiring.chunk_start)
    use_sample, use_chunk = place_in_sample(runs, runs.chunk_use, runs.wiring.use_chunk_start)
    no_chunk, no_chunks = np.full(len(kernels), -1), np.full(len(stalls), -1)
    families = (
        (START, state.start_log, kernels, samples, no_chunk),
        (STALL, stalls[:, 2], stalls[:, 0], stalls[:, 1], no_chunks),
        (RESUME, stalls[:, 3], stalls[:, 0], stalls[:, 1], no_chunks),
        (END, state.end_log, kernels, samples, no_chunk),
        (MOVES, state.started_log, runs.chunk_transfer, sample, chunk),
        (LEFT, state.left_log, runs.chunk_transfer, sample, chunk),
        (GIVEN, state.given_log, runs.chunk_transfer, sample, chunk),
        (NEEDED, state.needed_log, runs.chunk_use, use_sample, use_chunk),
        (ARRIVES, state.arrived_log, runs.chunk_transfer, sample, chunk),
    )
    kinds = np.repeat([family[0] for family in families], [len(family[1]) for family in families])
    columns = [np.concatenate([family[place] for family in families]) for place in range(1, 5)]
    return Events(
        columns[0].astype(np.int64), kinds.astype(np.int64),
        *(column.astype(np.int64) for column in columns[1:]),
    )  # fmt: skip


def _given_of(runs: Runs, events: Events) -> np.ndarray:
    """When the chunk of an event was given; 0 for events without a transfer."""
    given = np.zeros(len(events.time), np.int64)
    mine = np.flatnonzero((events.kind == ARRIVES) | (events.kind == LEFT))
    transfer = events.subject[mine]
    index = events.sample[mine] * runs.net.chunks[transfer] + events.chunk[mine]
    given[mine] = runs.state.given_log[runs.wiring.chunk_start[transfer] + index]
    return given


def _segments(state: State, transfers: int) -> dict[str, np.ndarray]:
    log = state.segment_log[: 6 * int(state.tally[3])].reshape(-1, 6)
    log = log[np.lexsort((log[:, 2], log[:, 0]))]
    start = np.searchsorted(log[:, 0], np.arange(transfers + 1)).astype(np.int64)
    names = ("chunk", "t0", "t1", "rate", "before")
    columns = {f"segment_{name}": log[:, place].copy() for place, name in enumerate(names, 1)}
    return {"segment_start": start, **columns}
