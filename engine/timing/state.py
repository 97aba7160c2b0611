"""The arrays the timing kernels work on: the wiring of a net and the state of a run.

Everything is one-dimensional and int64, so that the same source runs on numpy arrays when
compiled and on lists when interpreted. Knows no rule of time.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from engine.timing.net import TimingNet

NEVER = 1 << 62
"""a moment that does not come"""
BLOCK = 64
"""neighbours looked at together: where nothing is due or stale all are passed over at once"""

Log = TypeVar("Log", np.ndarray, "list[int]")
Arrays = TypeVar("Arrays", bound=tuple)  # type: ignore[type-arg]


class Wiring(NamedTuple):
    """What follows from a net and stays fixed; G regions, N chunks of all transfers and samples."""

    input_start: np.ndarray
    """(K + 1,) CSR over kernels"""
    input_use: np.ndarray
    """uses that a kernel reads"""
    output_start: np.ndarray
    """(K + 1,) CSR over kernels"""
    output: np.ndarray
    """transfers that a kernel gives"""
    gated_start: np.ndarray
    """(K + 1,) CSR over kernels"""
    gated: np.ndarray
    """transfers that move only after a kernel's instance"""
    use_transfer: np.ndarray
    """(U,) transfer of a use"""
    region_of: np.ndarray
    """(K,) region of a kernel"""
    chunk_start: np.ndarray
    """(T + 1,) first place of a transfer's chunks in arrays over chunks"""
    use_chunk_start: np.ndarray
    """(U + 1,) first place of a use's chunks in arrays over the chunks of uses"""
    kernel_row_start: np.ndarray
    """(K + 1,) CSR over kernels"""
    kernel_row: np.ndarray
    """conflicts where a kernel reserves"""
    kernel_row_rate: np.ndarray
    """the rates it reserves there"""


class Sharing(NamedTuple):
    """Who shares what: the conflicts turned both ways, and the work space of fair rates."""

    cap: np.ndarray
    """(T,) highest rate"""
    member_start: np.ndarray
    """(R + 1,) CSR over conflicts"""
    member: np.ndarray
    """transfers in a conflict"""
    member_coef: np.ndarray
    """their coefficients there"""
    row_start: np.ndarray
    """(T + 1,) CSR over transfers"""
    row: np.ndarray
    """conflicts that a transfer is in"""
    row_coef: np.ndarray
    """its coefficients there"""
    active: np.ndarray
    """(T,) 1 while a chunk moves"""
    moving: np.ndarray
    """(R,) members that are active"""
    reserved: np.ndarray
    """(R,) rate taken by kernels' own traffic"""
    stale: np.ndarray
    """(R,) 1 where a transfer or a reserve came or went since rates were shared"""
    stale_block: np.ndarray
    """(R / BLOCK,) 0 where none of so many neighbours is stale"""
    load: np.ndarray
    """(R,) coefficients of the transfers still open"""
    room: np.ndarray
    """(R,) capacity left to them"""
    level: np.ndarray
    """(R,) rate at which the conflict saturates"""
    rows: np.ndarray
    """(R,) conflicts in use"""
    found: np.ndarray
    """(T,) transfers that are linked"""
    open: np.ndarray
    """(T,) those of them without a rate"""
    share: np.ndarray
    """(T,) the new rate, -1 while open"""


class State(NamedTuple):
    """A run under way. Counters count chunks since cycle 0, times are cycles, -1 is unset."""

    tally: np.ndarray
    """(5,) cycle, instances ended, stalls logged, segments logged, items queued"""
    at: np.ndarray
    """(K + T,) next moment of each kernel, then of each transfer"""
    block_at: np.ndarray
    """((K + T) / BLOCK,) cycle before which none of so many neighbours has its next moment"""
    queue: np.ndarray
    """(K + T,) items to visit in this cycle"""
    queued: np.ndarray
    """(K + T,) 1 where in the queue"""
    turn: np.ndarray
    """(G,) instances that ended on a region"""
    sample: np.ndarray
    """(K,) sample of the running instance, -1 when none runs"""
    base: np.ndarray
    """(K,) cycle at which progress was 0, stalls taken out"""
    stalled: np.ndarray
    """(K,) cycle at which the stall began, -1 when not stalled"""
    reserves: np.ndarray
    """(K,) 1 while the kernel's own traffic is counted"""
    claimed: np.ndarray
    """(T,) out slots taken"""
    given: np.ndarray
    """(T,) chunks given"""
    begun: np.ndarray
    """(T,) chunks that started to move"""
    gone: np.ndarray
    """(T,) chunks that left"""
    here: np.ndarray
    """(T,) chunks that arrived"""
    needed: np.ndarray
    """(U,) chunks whose need was reached"""
    freed: np.ndarray
    """(U,) in slots given back"""
    taken: np.ndarray
    """(1,) samples of the host that have left it whole; counted where it has a loader"""
    ready: np.ndarray
    """(S,) cycle from which the host can give a sample, NEVER while its decoding has not begun"""
    rate: np.ndarray
    """(T,) its rate, -1 before the first is set"""
    moved: np.ndarray
    """(T,) words x RATE_UNIT of the chunk moved before `since`"""
    since: np.ndarray
    """(T,) cycle from which the rate holds"""
    leaves: np.ndarray
    """(T,) cycle at which the moving chunk will have left"""
    start_log: np.ndarray
    """(K * S,) starts of instances"""
    end_log: np.ndarray
    """(K * S,) ends of instances"""
    claimed_log: np.ndarray
    """(N,) when a chunk's out slot was taken"""
    given_log: np.ndarray
    """(N,) when a chunk was given"""
    started_log: np.ndarray
    """(N,) when a chunk started to move"""
    left_log: np.ndarray
    """(N,) when a chunk had left"""
    arrived_log: np.ndarray
    """(N,) when a chunk had arrived"""
    needed_log: np.ndarray
    """when a use's reader reached a chunk's need"""
    freed_log: np.ndarray
    """when a use's in slot was given back"""
    stall_log: np.ndarray
    """rows of 4: kernel, sample, start, end"""
    segment_log: np.ndarray
    """rows of 6: transfer, chunk, start, end, rate, words x RATE_UNIT moved before"""


def build_wiring(net: TimingNet) -> Wiring:
    """Turn a net's lists round: by kernel, by use, by chunk."""
    kernels, transfers = len(net.length), len(net.words)
    use_transfer = np.repeat(np.arange(transfers), np.diff(net.use_start))
    kernel_rows = np.repeat(np.arange(len(net.reserve_start) - 1), np.diff(net.reserve_start))
    input_start, input_use = _members(net.use_kernel, kernels)
    output_start, output = _members(net.producer, kernels)
    kernel_row_start, kernel_row_order = _members(net.reserve_kernel, kernels)
    regions = np.repeat(np.arange(len(net.region_start) - 1), np.diff(net.region_start))
    region_of = np.zeros(kernels, np.int64)
    region_of[net.region_kernel] = regions
    chunks = net.samples * net.chunks
    return Wiring(
        *(input_start, input_use, output_start, output, *_members(net.after, kernels)),
        *(use_transfer, region_of, _offsets(chunks), _offsets(chunks[use_transfer])),
        *(kernel_row_start, kernel_rows[kernel_row_order], net.reserve_rate[kernel_row_order]),
    )


def build_sharing(net: TimingNet) -> Sharing:
    """Return the net's conflicts with nothing active yet."""
    transfers, conflicts = len(net.words), len(net.conflict_start) - 1
    rows = np.repeat(np.arange(conflicts), np.diff(net.conflict_start))
    row_start, order = _members(net.conflict_transfer, transfers)
    sizes = {
        "active": transfers, "moving": conflicts, "reserved": conflicts, "stale": conflicts,
        "stale_block": -(-conflicts // BLOCK), "load": conflicts, "room": conflicts,
        "level": conflicts, "rows": conflicts, "found": transfers, "open": transfers,
        "share": transfers,
    }  # fmt: skip
    return Sharing(
        net.cap, net.conflict_start, net.conflict_transfer, net.conflict_coef,
        row_start, rows[order], net.conflict_coef[order],
        **{name: np.zeros(size, np.int64) for name, size in sizes.items()},
    )  # fmt: skip


def build_state(net: TimingNet, wiring: Wiring) -> State:
    """Return the state before cycle 0, every kernel and transfer due for a first visit."""
    kernels, transfers, uses = len(net.length), len(net.words), len(net.use_kernel)
    instances = kernels * net.samples
    chunks, use_chunks = int(wiring.chunk_start[-1]), int(wiring.use_chunk_start[-1])
    items = kernels + transfers
    zeros = {
        "tally": 5, "at": items, "block_at": -(-items // BLOCK), "queue": items, "queued": items,
        "turn": len(net.region_start) - 1, "base": kernels, "reserves": kernels,
        "claimed": transfers, "given": transfers, "begun": transfers, "gone": transfers,
        "here": transfers, "taken": 1, "needed": uses, "freed": uses,
        "rate": transfers, "moved": transfers, "since": transfers,
        "stall_log": 4 * (2 * kernels + 64), "segment_log": 6 * (2 * transfers + chunks + 64),
    }  # fmt: skip
    unset = {
        "sample": kernels, "stalled": kernels, "start_log": instances, "end_log": instances,
        "claimed_log": chunks, "given_log": chunks, "started_log": chunks, "left_log": chunks,
        "arrived_log": chunks, "needed_log": use_chunks, "freed_log": use_chunks,
    }  # fmt: skip
    return State(
        leaves=np.full(transfers, NEVER, np.int64),
        ready=_ready(net),
        **{name: np.zeros(size, np.int64) for name, size in zeros.items()},
        **{name: np.full(size, -1, np.int64) for name, size in unset.items()},
    )


def _ready(net: TimingNet) -> np.ndarray:
    """Return when the host has each sample; with a loader the first ones, decoded from cycle 0."""
    sample = np.arange(net.samples, dtype=np.int64)
    if not net.loader_workers:
        return sample * net.admit_every
    rounds = (sample // net.loader_workers + 1) * net.loader_cycles
    return np.where(sample < net.loader_ahead, rounds, NEVER)


def to_lists(arrays: Arrays) -> Arrays:
    """Return the same named tuple with lists for arrays: quicker when interpreted."""
    return type(arrays)(*(x.tolist() if isinstance(x, np.ndarray) else x for x in arrays))


def to_arrays(lists: Arrays) -> Arrays:
    """Undo `to_lists`."""
    return type(lists)(*(np.array(x, np.int64) if isinstance(x, list) else x for x in lists))


def twice_as_long(log: Log) -> Log:
    """Return the array or list with as many zeros behind it."""
    if isinstance(log, np.ndarray):
        longer = np.zeros(2 * len(log), log.dtype)
        longer[: len(log)] = log
        return longer
    return log + [0] * len(log)


def _offsets(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _members(owner: np.ndarray, owners: int) -> tuple[np.ndarray, np.ndarray]:
    """CSR of the places where `owner` holds each of 0 .. owners - 1 (negative ones dropped)."""
    order = np.argsort(owner, kind="stable").astype(np.int64)
    order = order[owner[order] >= 0]
    return _offsets(np.bincount(owner[order], minlength=owners)[:owners]), order
