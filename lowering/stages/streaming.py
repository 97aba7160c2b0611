"""Weight streaming: kernels take turns on the whole wafer, their weights arrive through the edge.

Activations stay in SRAM. While one kernel runs, the weights of the next ones arrive, as many as
`prefetch` says and the SRAM allows. Knows plans, not the engine's time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter

import numpy as np

from engine.geometry import Rect
from engine.kernels.cost import KernelModel
from engine.kernels.problem import Shapes
from engine.load import FlowPattern, shared_loads
from engine.machine import MachineSpec
from engine.profile import Profile, profile
from engine.program import HOST, Conflict, Kernel, Leg, Tiling, Transfer, WeightStream
from engine.sparsity import kernel_nonzeros
from engine.transfers import busiest_words, leg_patterns, transfer_patterns
from lowering.config import CompileConfig
from lowering.stages.contention import moving_conflicts
from lowering.stages.plan import KernelPlan, PlacedPlan
from lowering.stages.routing import End, weight_legs
from lowering.stages.turn_area import turn_area
from lowering.stages.turn_tilings import turn_tilings
from lowering.stages.weight_arrival import arrival_cycles, weight_words

_LEG_FLOW = attrgetter(*(field.name for field in fields(Leg) if field.name != "color"))


def place_streaming(
    plan: KernelPlan, shapes: Shapes, config: CompileConfig, chunks: int, share: int
) -> PlacedPlan:
    """Give every kernel its best tiling on the whole wafer; all start at the north-west corner, on
    a machine with defective PEs at that of the largest rectangle without one.

    A tile may take one part in `share` of the SRAM.
    """
    machine, area = config.machine, turn_area(config.machine)
    tilings = turn_tilings(plan, shapes, config, chunks, machine.data_sram_bytes // share)
    ends: dict[str, End] = {}
    profiles: dict[str, Profile] = {}
    known: dict[tuple[KernelModel, Tiling], Profile] = {}
    for draft in plan.drafts:
        model, tiling = plan.models[draft.name], tilings[draft.name]
        if (model, tiling) not in known:
            known[model, tiling] = profile(model, tiling, machine, config.storage)
        found = known[model, tiling]
        used = kernel_nonzeros(draft.spec, model.problem, tiling, machine, plan.constants)
        if used is not None:
            found = profile(model, tiling, machine, config.storage, used)
        rows = tiling.m_parts * tiling.k_parts
        ends[draft.name] = End(Rect(area.row, area.col, rows, tiling.n_parts), tiling)
        profiles[draft.name] = found
    return PlacedPlan(ends, profiles, None)


def stream_slots(
    transfers: Sequence[Transfer], order: Sequence[str], prefetch: int
) -> tuple[Transfer, ...]:
    """Return the transfers with room for a whole sample at the producer, two chunks ahead.

    The consumer starts only after the producer has ended, so every chunk waits at its producer.
    What is read much later, and what comes from the host, waits where it is until `prefetch` + 1
    turns before its reader's: with the reader it may take many times the SRAM.
    """
    place = {name: turn for turn, name in enumerate(order)}
    found = []
    for transfer in transfers:
        ahead = (min(2, transfer.chunks),) * len(transfer.consumers)
        after = transfer.after
        if HOST not in transfer.consumers:
            gate = min(place[name] for name in transfer.consumers) - 1 - prefetch
            born = -1 if transfer.producer == HOST else place[transfer.producer]
            after = order[gate] if gate > born else ""
        found.append(replace(transfer, out_slots=transfer.chunks, in_slots=ahead, after=after))
    return tuple(found)


def weight_streams(
    kernels: Sequence[Kernel],
    models: Mapping[str, KernelModel],
    machine: MachineSpec,
    dtype: str,
    prefetch: int,
    *,
    late: bool = False,
) -> tuple[WeightStream, ...]:
    """Return the streams of all kernels with weights, in the order the ports serve them.

    Those of the next `prefetch` kernels with weights are there ahead; `late`: of the next kernels,
    with weights or without, so that nothing is kept over many turns of others.
    """
    streams: list[WeightStream] = []
    with_weights: list[Kernel] = []
    for turn, kernel in enumerate(kernels):
        model = models[kernel.id]
        words = weight_words(model, machine, dtype)
        if not words:
            continue
        legs = weight_legs(End(kernel.region, kernel.tiling), words)
        rows, cols = (np.array(side) for side in (kernel.region.rows, kernel.region.cols))
        before, count = (kernels, turn) if late else (with_weights, len(with_weights))
        gate = before[count - 1 - prefetch].id if count > prefetch else ""
        with_weights.append(kernel)
        streams.append(
            WeightStream(
                id=f"weights of {kernel.id}", kernel=kernel.id, words=words,
                cycles=max(1, int(arrival_cycles(words, rows, cols, machine))),
                latency=machine.weight_latency_cycles, legs=legs,
                gate=gate,
            )
        )  # fmt: skip
    return tuple(streams)


def streaming_conflicts(
    kernels: Sequence[Kernel],
    transfers: Sequence[Transfer],
    streams: Sequence[WeightStream],
    lengths: Mapping[str, int],
) -> tuple[Conflict, ...]:
    """Return the load vectors of flows that can meet: those alive in the turn of one kernel."""
    place = {kernel.id: index for index, kernel in enumerate(kernels)}
    names = [*(t.id for t in transfers), *(s.id for s in streams), *(k.id for k in kernels)]
    turns: list[list[int]] = [[] for _ in kernels]
    for index, transfer in enumerate(transfers):
        first, last = turns_of(transfer, place)
        for turn in range(first, last + 1):
            turns[turn].append(index)
    for index, stream in enumerate(streams, len(transfers)):
        for turn in _stream_turns(stream, place):
            turns[turn].append(index)
    for turn, kernel in enumerate(kernels):
        if kernel.legs:
            turns[turn].append(len(transfers) + len(streams) + turn)
    flows, like = _flow_patterns(kernels, transfers, streams, lengths)
    return moving_conflicts(shared_loads(flows, names, turns, like), transfers)


def _flow_patterns(
    kernels: Sequence[Kernel],
    transfers: Sequence[Transfer],
    streams: Sequence[WeightStream],
    lengths: Mapping[str, int],
) -> tuple[list[FlowPattern], list[int]]:
    """Return the patterns of the different flows, and of each flow the one that it is like.

    Flows are transfers, streams and kernels, numbered in this order. A transfer moves at the rate
    it gets, the others' words pass evenly over their cycles. The legs of a kernel are traffic of
    their own, those of the others hand over to the next.
    """
    keys: list[Hashable] = [(_uncolored(transfer.legs), None) for transfer in transfers]
    keys += [(_uncolored(stream.legs), stream.cycles) for stream in streams]
    keys += [("own", _uncolored(k.legs), lengths[k.id] if k.legs else 0) for k in kernels]
    first: dict[Hashable, int] = {}
    like = [first.setdefault(key, flow) for flow, key in enumerate(keys)]
    found: list[FlowPattern] = []
    for flow in first.values():
        if flow < len(transfers):
            patterns = transfer_patterns(transfers[flow].legs)
            weight = 1 / max(1, busiest_words(patterns))
        elif flow < len(transfers) + len(streams):
            stream = streams[flow - len(transfers)]
            patterns, weight = transfer_patterns(stream.legs), 1 / stream.cycles
        else:
            kernel = kernels[flow - len(transfers) - len(streams)]
            patterns = [pattern for leg in kernel.legs for pattern in leg_patterns(leg)]
            weight = 1 / max(1, lengths[kernel.id])
        found += [FlowPattern(flow, pattern, weight) for pattern in patterns]
    return found, like


def _uncolored(legs: Sequence[Leg]) -> Hashable:
    """Return what of legs says which links carry how many words."""
    return tuple(map(_LEG_FLOW, legs))


def turns_of(transfer: Transfer, place: Mapping[str, int]) -> tuple[int, int]:
    """Return the first and last turn in which a transfer may move.

    What comes from or goes to the host may move while another sample is in work: in any turn.
    """
    if transfer.until:
        return place[transfer.producer], place[transfer.until]
    if transfer.after:
        return place[transfer.after], max(place[consumer] for consumer in transfer.consumers)
    if HOST in (transfer.producer, *transfer.consumers):
        return 0, len(place) - 1
    return place[transfer.producer], max(place[consumer] for consumer in transfer.consumers)


def _stream_turns(stream: WeightStream, place: Mapping[str, int]) -> range:
    """Return the turns in which weights may arrive: from their gate to their own."""
    return range(place[stream.gate] if stream.gate else 0, place[stream.kernel] + 1)
