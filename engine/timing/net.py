"""The timing net: all that the event engine needs of a Program, as plain arrays.

Built from a Program by `build_net`; knows no geometry. Rates are integers in 1 / RATE_UNIT
wavelet a cycle; a flow's share of a resource is an integer in 1 / COEF_UNIT, rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from math import ceil
from typing import NamedTuple

import numpy as np

from engine.program import HOST, Loader, Program, Transfer
from engine.transfers import busiest_words, transfer_latency, transfer_patterns

RATE_UNIT = 720_720
"""lcm(1..16): shares down to a sixteenth are exact"""
COEF_UNIT = 1 << 16
"""resolution of a flow's share of a resource"""
TURN_END = "end of a sample's weights"
"""the ports' last instance of a sample: it waits for the last kernel"""
SCALARS = ("samples", "admit_every", "loader_workers", "loader_cycles", "loader_ahead")
"""fields of a net that are plain integers"""
PORT_RATE = RATE_UNIT * COEF_UNIT
"""all of a port, in 1 / (RATE_UNIT * COEF_UNIT)"""
UNLIMITED = 1 << 40
"""slots that never run out"""


class TimingNet(NamedTuple):
    """Arrays of one net; K kernels, T transfers, U uses (transfer -> one consumer), R conflicts.

    All int64. CSR pairs `x_start` (n + 1) and `x` list the members of each of n rows.
    """

    samples: int
    admit_every: int
    """cycles between host samples; 0 = all there from cycle 0"""
    loader_workers: int
    """samples the host decodes at once; 0 = nothing needs decoding"""
    loader_cycles: int
    """cycles in which one worker decodes a sample"""
    loader_ahead: int
    """samples in decoding or waiting on the host, all workers together"""
    length: np.ndarray
    """(K,) cycles of an instance without stalls, >= 1"""
    region_start: np.ndarray
    """(G + 1,) CSR over regions"""
    region_kernel: np.ndarray
    """(K,) kernels of each region in running order"""
    producer: np.ndarray
    """(T,) kernel, or -1 for the host"""
    after: np.ndarray
    """(T,) kernel whose instance of the sample must have ended before it moves, -1 for none"""
    chunks: np.ndarray
    """(T,) chunks a sample"""
    words: np.ndarray
    """(T,) words of a chunk on its busiest link; 0 allowed"""
    cap: np.ndarray
    """(T,) highest rate, 1 .. RATE_UNIT"""
    latency: np.ndarray
    """(T,) cycles from the last wavelet's departure to the chunk's arrival"""
    out_slots: np.ndarray
    """(T,) chunks that fit at the producer (ignored for the host)"""
    give_first: np.ndarray
    """(T,) progress of the producer at which chunk 0 is given; equals give_last if chunks == 1"""
    give_last: np.ndarray
    """(T,) progress at which the last chunk is given, <= length"""
    use_start: np.ndarray
    """(T + 1,) CSR over transfers"""
    use_kernel: np.ndarray
    """(U,) consumer, or -1 for the host sink (always has a slot)"""
    in_slots: np.ndarray
    """(U,) chunks that fit at the consumer"""
    need_first: np.ndarray
    """(U,) progress of the consumer at which chunk 0 is needed; 0 if chunks == 1"""
    need_last: np.ndarray
    """(U,) progress at which the last chunk is needed"""
    conflict_start: np.ndarray
    """(R + 1,) CSR over conflicts"""
    conflict_transfer: np.ndarray
    """transfers that share the resource"""
    conflict_coef: np.ndarray
    """their load a unit of rate, in 1 / COEF_UNIT, rounded up"""
    reserve_start: np.ndarray
    """(R + 1,) CSR over conflicts: kernels whose own traffic is served first"""
    reserve_kernel: np.ndarray
    """kernels with traffic of their own on the resource"""
    reserve_rate: np.ndarray
    """rate they hold while running and not stalled, in 1 / (RATE_UNIT * COEF_UNIT), rounded up"""


def build_net(program: Program, lengths: Mapping[str, int]) -> TimingNet:
    """Return the net of a Program whose kernels last `lengths` cycles an instance.

    A weight stream is a kernel of its own on the region of the ports: it runs for the cycles of
    the ports and hands over a chunk without words when its last wavelet is in. Its gate is a
    transfer without words from the kernel that frees the SRAM. After the streams of a sample the
    ports wait for its last kernel, so weights never arrive for two samples at once. What comes
    back through the ports moves while no weights do; the end of the kernel that it waits for gives
    it. Kernels and transfers of the program come first, streams and their hand-overs after them.
    """
    index = {kernel.id: i for i, kernel in enumerate(program.kernels)}
    index |= {stream.id: len(index) + i for i, stream in enumerate(program.streams)}
    index[HOST] = -1
    own = [*program.transfers, *_stream_transfers(program, lengths)]
    lasting = dict(lengths) | {stream.id: stream.cycles for stream in program.streams}
    words = [busiest_words(transfer_patterns(t.legs)) for t in own]
    uses = [(t, i) for t in own for i in range(len(t.consumers))]
    regions = [[index[k] for k in order] for order in program.order]
    names = [*(k.id for k in program.kernels), *(s.id for s in program.streams)]
    if program.streams:
        index[TURN_END], lasting[TURN_END] = len(names), 1
        names.append(TURN_END)
        regions.append([*(index[stream.id] for stream in program.streams), index[TURN_END]])
    loader = program.loader or Loader(0, 0, 0)
    return TimingNet(
        samples=program.samples,
        admit_every=program.admit_every,
        loader_workers=loader.workers,
        loader_cycles=loader.cycles,
        loader_ahead=loader.workers * loader.prefetch,
        length=_ints(max(1, lasting[name]) for name in names),
        region_start=_starts(regions),
        region_kernel=_ints(k for region in regions for k in region),
        producer=_ints(index[_giver(t)] for t in own),
        after=_ints(index[t.after] for t in own),
        chunks=_ints(t.chunks for t in own),
        words=_ints(words),
        cap=_ints(highest_rate(t, w, program) for t, w in zip(own, words, strict=True)),
        latency=_ints(
            [
                *(transfer_latency(t.legs, program.machine) for t in program.transfers),
                *(stream.latency for stream in program.streams),
                *(0 for t in own[len(program.transfers) + len(program.streams) :]),
            ]
        ),
        out_slots=_ints(UNLIMITED if t.comes_back else t.out_slots for t in own),
        give_first=_ints(lasting[t.after] if t.comes_back else t.give[0] for t in own),
        give_last=_ints(lasting[t.after] if t.comes_back else t.give[1] for t in own),
        use_start=_starts([t.consumers for t in own]),
        use_kernel=_ints(index[_reader(t, i, program)] for t, i in uses),
        in_slots=_ints(UNLIMITED if t.leaves else t.in_slots[i] for t, i in uses),
        need_first=_ints(t.need[i][0] for t, i in uses),
        need_last=_ints(t.need[i][1] for t, i in uses),
        **_conflicts(program, index, words, lasting),
    )


def weight_transfers(program: Program) -> frozenset[int]:
    """Return the net's transfers through the weight ports: weights handed over, what leaves and
    what comes back."""
    count = len(program.transfers) + len(program.streams)
    return frozenset(i for i in range(count) if is_weight_transfer(program, i))


def is_weight_transfer(program: Program, index: int) -> bool:
    """Tell whether one of the net's transfers goes through the weight ports."""
    first = len(program.transfers)
    if index < first:
        return program.transfers[index].port == "weights"
    return index < first + len(program.streams)


def _giver(transfer: Transfer) -> str:
    """Return whose end, or progress, gives a transfer's chunks."""
    return transfer.after if transfer.comes_back else transfer.producer


def _reader(transfer: Transfer, place: int, program: Program) -> str:
    """Return who waits for a transfer; what leaves through the weight ports frees SRAM."""
    if not transfer.leaves:
        return transfer.consumers[place]
    return transfer.until or (TURN_END if program.streams else HOST)


def _stream_transfers(program: Program, lengths: Mapping[str, int]) -> list[Transfer]:
    """Return the hand-overs of all streams, then their gates."""
    arrivals = [
        Transfer(
            f"weights of {stream.kernel}", "", stream.id, (stream.kernel,), (), 1, 1, (1,),
            give=(stream.cycles, stream.cycles), need=((0, 0),),
        )
        for stream in program.streams
    ]  # fmt: skip
    gates = [
        Transfer(
            f"room for the weights of {stream.kernel}", "", stream.gate, (stream.id,), (), 1, 1,
            (1,), give=(lengths[stream.gate], lengths[stream.gate]), need=((0, 0),),
        )
        for stream in program.streams
        if stream.gate
    ]  # fmt: skip
    if program.streams:
        last = program.order[-1][-1]
        gates.append(
            Transfer(
                "end of the sample", "", last, (TURN_END,), (), 1, 1, (1,),
                give=(lengths[last], lengths[last]), need=((0, 0),),
            )
        )  # fmt: skip
    return arrivals + gates


def highest_rate(transfer: Transfer, words: int, program: Program) -> int:
    """Return a transfer's cap in 1 / RATE_UNIT: a ramp's wavelet a cycle, or its host port."""
    if HOST not in (transfer.producer, *transfer.consumers) or not words:
        return RATE_UNIT
    moved = sum(leg.words for leg in transfer.legs[:1])
    port = _port_rate(transfer, program) * words / max(1, moved)
    return max(1, min(RATE_UNIT, int(port * RATE_UNIT)))


def _port_rate(transfer: Transfer, program: Program) -> float:
    """Return the wavelets a cycle of the border that a host transfer crosses."""
    if transfer.port == "weights":
        return program.machine.weight_wavelets_per_cycle
    return program.host_rate


def _conflicts(
    program: Program, index: Mapping[str, int], words: Sequence[int], lengths: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Return the conflicts as lists; a term that stands in many, one object, is worked out once."""
    number = {t.id: i for i, t in enumerate(program.transfers)}
    terms = [term for conflict in program.conflicts for term in conflict.terms]
    same = np.fromiter(map(id, terms), np.int64, len(terms))
    _, first, which = np.unique(same, return_index=True, return_inverse=True)
    moves, subjects, shares = [], [], []
    for term in (terms[place] for place in first.tolist()):
        moves.append(term.flow in number)
        if moves[-1]:
            transfer = number[term.flow]
            if not words[transfer]:
                raise ValueError(f"a conflict gives words to '{term.flow}', which moves none")
            subjects.append(transfer)
            shares.append(-(-term.words * COEF_UNIT // words[transfer]))
        else:
            subjects.append(index[term.flow])
            shares.append(-(-term.words * RATE_UNIT * COEF_UNIT // max(1, lengths[term.flow])))
    moving, subject, share = (
        np.array(moves, bool)[which],
        _ints(subjects)[which],
        _ints(shares)[which],
    )
    ends = np.cumsum([0, *(len(conflict.terms) for conflict in program.conflicts)])
    before = np.concatenate([[0], np.cumsum(moving)])[ends].astype(np.int64)
    own = ends - before
    ports = _port_rows(program, words)
    coming = [[index[s.id] for s in program.streams] if row.is_weights_in else [] for row in ports]
    weights = _ints(stream for streams in coming for stream in streams)
    return {
        "conflict_start": np.concatenate(
            [before, before[-1] + _starts([r.loads for r in ports])[1:]]
        ),
        "conflict_transfer": np.concatenate(
            [subject[moving], _ints(transfer for row in ports for transfer, _ in row.loads)]
        ),
        "conflict_coef": np.concatenate(
            [share[moving], _ints(coef for row in ports for _, coef in row.loads)]
        ),
        "reserve_start": np.concatenate([own, own[-1] + _starts(coming)[1:]]),
        "reserve_kernel": np.concatenate([subject[~moving], weights]),
        "reserve_rate": np.concatenate([share[~moving], np.full(len(weights), PORT_RATE)]),
    }


class _PortRow(NamedTuple):
    """Transfers that share a port in one direction, and their loads on it."""

    is_weights_in: bool
    """True for the ports by which weights arrive, which go first and take all of it"""
    loads: list[tuple[int, int]]


def _port_rows(program: Program, words: Sequence[int]) -> list[_PortRow]:
    """Return the loads on each port, in and out, where something else wants it too."""
    rows: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for index, transfer in enumerate(program.transfers):
        if HOST in (transfer.producer, *transfer.consumers) and words[index]:
            moved = sum(leg.words for leg in transfer.legs[:1])
            share = moved * COEF_UNIT / (words[index] * _port_rate(transfer, program))
            row = rows.setdefault((transfer.port, transfer.producer == HOST), [])
            row.append((index, max(1, ceil(share))))
    found = [_PortRow(key == ("weights", True), loads) for key, loads in rows.items()]
    return [row for row in found if row.is_weights_in or len(row.loads) > 1]


def _ints(values: Iterable[int]) -> np.ndarray:
    return np.array(list(values), np.int64)


def _starts(rows: Sequence[Sized]) -> np.ndarray:
    return np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
