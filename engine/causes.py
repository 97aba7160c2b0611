"""Why the PEs of a region do not work: the one table of causes, and the waits between instances.

Read from events, what they waited for and chunk times, nothing else. Causes inside instances come
from kernel profiles and are not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.event_kinds import ARRIVES, LEFT, RESUME, START
from engine.timing.net import TimingNet

if TYPE_CHECKING:
    from engine.timeline import Timeline

CAUSES = (
    "defective", "unassigned", "compute", "overhead", "memory", "transfer", "imbalance",
    "wait-output", "wait-weights", "wait-host", "wait-fabric", "wait-input", "fill", "drain",
)  # fmt: skip
"""every cycle of every PE has exactly one; ties between waits go to the one named first"""
WAIT_OUTPUT, WAIT_WEIGHTS, WAIT_HOST, WAIT_FABRIC, WAIT_INPUT, FILL, DRAIN = range(7, 14)


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Spans in which no instance of a region runs unstalled; sorted by region, then time."""

    region: np.ndarray
    """index of the region"""
    t0: np.ndarray
    """first cycle"""
    t1: np.ndarray
    """first cycle after"""
    cause: np.ndarray
    """code in `CAUSES` as shown"""
    underlying: np.ndarray
    """code of the wait below `fill`; elsewhere the same as `cause`"""
    kernel: np.ndarray
    """kernel that waits, -1 in a drain"""
    sample: np.ndarray
    """its sample, -1 in a drain"""
    transfer: np.ndarray
    """transfer waited for, -1 for none"""

    def sums(self, regions: int) -> np.ndarray:
        """Return the cycles of each cause, int64 (regions, len(CAUSES)).

        The ports of weight streams are a region after those of the program: it has no PEs.
        """
        sums = np.zeros((regions, len(CAUSES)), np.int64)
        mine = self.region < regions
        np.add.at(sums, (self.region[mine], self.cause[mine]), (self.t1 - self.t0)[mine])
        return sums


@dataclass(frozen=True, slots=True, eq=False)
class _Waits:
    """Spans of one kernel's instance between what it did and what it could do."""

    kernel: np.ndarray
    sample: np.ndarray
    t0: np.ndarray
    t1: np.ndarray
    event: np.ndarray
    """the start or resume that ends the wait"""


def gap_causes(
    net: TimingNet, timeline: Timeline, weight_transfers: frozenset[int] = frozenset()
) -> Gaps:
    """Name the cause of every cycle in which a region does not work.

    `weight_transfers` are those that stream weights: waiting for one is `wait-weights`.
    """
    region_of = np.zeros(len(net.length), np.int64)
    region_of[net.region_kernel] = np.repeat(
        np.arange(len(net.region_start) - 1), np.diff(net.region_start)
    )
    waits, first_start = _list_waits(net, timeline, region_of)
    rows = _split_waits(net, timeline, waits, weight_transfers)
    region, shown = region_of[rows[2]], rows[4].copy()
    shown[rows[1] <= first_start[region]] = FILL
    drains = _drains(net, timeline)
    nothing = np.full(len(drains[0]), -1, np.int64)
    columns = (
        np.concatenate([region, drains[0]]),
        np.concatenate([rows[0], drains[1]]),
        np.concatenate([rows[1], drains[2]]),
        np.concatenate([shown, drains[3]]),
        np.concatenate([rows[4], drains[3]]),
        *(np.concatenate([column, nothing]) for column in (rows[2], rows[3], rows[5])),
    )
    order = np.lexsort((columns[1], columns[0]))
    return Gaps(*(column[order] for column in columns))


def first_missing(
    events: np.ndarray, since: np.ndarray, kind: np.ndarray, subject: np.ndarray,
    because_start: np.ndarray, because: np.ndarray, producer: np.ndarray, given: np.ndarray,
    weight_transfers: frozenset[int] = frozenset(),
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return (cause, transfer) of waits from `since` that `events` ended, by the tie order.

    `given` is the time each event's chunk was given: a chunk given by `since` waited for the
    fabric all along, one given later is told as `wait-input`. No predecessor: (WAIT_HOST, -1).
    """
    counts = because_start[events + 1] - because_start[events]
    wait = np.repeat(np.arange(len(events)), counts)
    offset = np.arange(len(wait)) - np.repeat(np.cumsum(counts) - counts, counts)
    source = because[because_start[events][wait] + offset]
    source_kind, transfer = kind[source], subject[source]
    keep = (source_kind == LEFT) | (source_kind == ARRIVES)
    wait, source, source_kind, transfer = (
        column[keep] for column in (wait, source, source_kind, transfer)
    )
    code = np.where(given[source] <= since[wait], WAIT_FABRIC, WAIT_INPUT)
    code[producer[transfer] < 0] = WAIT_HOST
    code[np.isin(transfer, list(weight_transfers))] = WAIT_WEIGHTS
    code[source_kind == LEFT] = WAIT_OUTPUT
    order = np.lexsort((transfer, given[source], code, wait))
    found, first = np.unique(wait[order], return_index=True)
    cause = np.full(len(events), WAIT_HOST, np.int64)
    missing = np.full(len(events), -1, np.int64)
    cause[found], missing[found] = code[order][first], transfer[order][first]
    return cause, missing


def _list_waits(
    net: TimingNet, timeline: Timeline, region_of: np.ndarray
) -> tuple[_Waits, np.ndarray]:
    """Gaps before instances and stalls inside them; and each region's first start."""
    event = np.zeros(timeline.start.shape, np.int64)
    starts = np.flatnonzero(timeline.event_kind == START)
    event[timeline.event_subject[starts], timeline.event_sample[starts]] = starts
    resumes = np.flatnonzero(timeline.event_kind == RESUME)
    by_key = np.lexsort((timeline.event_subject[resumes], timeline.event_time[resumes]))
    stalls = np.lexsort((timeline.stall_kernel, timeline.stall_end))
    parts = [
        (timeline.stall_kernel[stalls], timeline.stall_sample[stalls],
         timeline.stall_start[stalls], timeline.stall_end[stalls], resumes[by_key])
    ]  # fmt: skip
    regions = len(net.region_start) - 1
    first_start = np.zeros(regions, np.int64)
    for region in range(regions):
        order = net.region_kernel[net.region_start[region] : net.region_start[region + 1]]
        if len(order) == 0:
            continue
        kernel = np.tile(order, net.samples)
        sample = np.repeat(np.arange(net.samples), len(order))
        start, end = timeline.start[kernel, sample], timeline.end[kernel, sample]
        first_start[region] = start[0]
        idle_from = np.concatenate([[0], end[:-1]])
        parts.append((kernel, sample, idle_from, start, event[kernel, sample]))
    columns = [np.concatenate([part[place] for part in parts]) for place in range(5)]
    lasting = columns[2] < columns[3]
    return _Waits(*(column[lasting].astype(np.int64) for column in columns)), first_start


def _split_waits(
    net: TimingNet, timeline: Timeline, waits: _Waits, weight_transfers: frozenset[int]
) -> tuple[np.ndarray, ...]:
    """(t0, t1, kernel, sample, cause, transfer), a wait cut where its chunk is given."""
    given = _given_times(net, timeline)
    cause, transfer = first_missing(
        waits.event, waits.t1, timeline.event_kind, timeline.event_subject,
        timeline.because_start, timeline.because, net.producer, given, weight_transfers,
    )  # fmt: skip
    fabric = cause == WAIT_FABRIC
    cut = np.where(fabric, waits.t1, waits.t0)
    np.minimum.at(cut, *_given_of_waits(timeline, waits, transfer, fabric, given))
    cut = np.maximum(cut, waits.t0)
    before, after = np.flatnonzero(fabric & (cut > waits.t0)), np.flatnonzero(cut < waits.t1)
    both = np.concatenate([before, after])
    return (
        np.concatenate([waits.t0[before], cut[after]]),
        np.concatenate([cut[before], waits.t1[after]]),
        waits.kernel[both],
        waits.sample[both],
        np.concatenate([np.full(len(before), WAIT_INPUT), cause[after]]),
        transfer[both],
    )


def _given_of_waits(
    timeline: Timeline, waits: _Waits, transfer: np.ndarray, fabric: np.ndarray, given: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(wait, when given) of the chunks that the waits for an input end with."""
    counts = timeline.because_start[waits.event + 1] - timeline.because_start[waits.event]
    wait = np.repeat(np.arange(len(counts)), counts)
    offset = np.arange(len(wait)) - np.repeat(np.cumsum(counts) - counts, counts)
    source = timeline.because[timeline.because_start[waits.event][wait] + offset]
    mine = fabric[wait] & (timeline.event_kind[source] == ARRIVES)
    mine &= timeline.event_subject[source] == transfer[wait]
    return wait[mine], given[source[mine]]


def _given_times(net: TimingNet, timeline: Timeline) -> np.ndarray:
    """When the chunk of an arrival or departure was given, 0 for other events."""
    given = np.zeros(len(timeline.event_time), np.int64)
    mine = np.flatnonzero((timeline.event_kind == ARRIVES) | (timeline.event_kind == LEFT))
    transfer = timeline.event_subject[mine]
    index = timeline.event_sample[mine] * net.chunks[transfer] + timeline.event_chunk[mine]
    given[mine] = timeline.given[timeline.chunk_start[transfer] + index]
    return given


def _drains(net: TimingNet, timeline: Timeline) -> tuple[np.ndarray, ...]:
    """(region, t0, t1, cause) after each region's last instance."""
    rows = []
    for region in range(len(net.region_start) - 1):
        order = net.region_kernel[net.region_start[region] : net.region_start[region + 1]]
        last = int(timeline.end[order].max(initial=0))
        if last < timeline.makespan:
            rows.append((region, last, timeline.makespan, DRAIN))
    return tuple(np.array(rows, np.int64).reshape(-1, 4).T)
