"""Compiling for weight streaming: kernels take turns on the whole wafer."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import inf

from engine.machine import DTYPE_BYTES
from engine.program import Program
from lowering.assembly import Job, Made, Routed, make_kernel, make_outside, make_tensors
from lowering.machine_change import timeless
from lowering.passes.fuse import fuse
from lowering.passes.phases import trained_state
from lowering.passes.tile_loops import tile_loops
from lowering.stages.edges import plan_edges
from lowering.stages.experts import routing_key, with_routing
from lowering.stages.kept import least_own
from lowering.stages.plan import PlacedPlan, plan_kernels
from lowering.stages.routing import kernel_legs
from lowering.stages.shared_memory import SharedRequests, shared_memory, shared_requests
from lowering.stages.spill import Away, plan_away, with_away
from lowering.stages.state import gradients, leaving_state, plan_turns
from lowering.stages.streaming import (
    place_streaming,
    stream_slots,
    streaming_conflicts,
    turns_of,
    weight_streams,
)
from lowering.stages.transfers import make_transfers
from lowering.stages.turn_area import around_defects, turn_area
from lowering.stages.turn_colors import color_conflicts, painted, turn_colors
from lowering.turn_cuts import FINEST, Cut, cuts_to_try, own_share, turn_room

STREAMING_SAMPLES = 2
"""samples sent through by default: the second shows how the first one's end is overlapped"""
DEEP_KERNELS = 200
"""a deeper model is sent one sample by default: another one only repeats its steps"""


LOOPED_FROM = 16
"""a tensor that takes one part in this many of the SRAM of all PEs is large: work on it may loop"""


@dataclass(frozen=True, slots=True, eq=False)
class _Attempt:
    """A cut, placed and routed, and the memory it wants."""

    cut: Cut
    placed: PlacedPlan
    routed: Routed
    wanted: SharedRequests
    live_peak: int
    """bytes of the fullest turn"""


def compile_streaming(job: Job) -> Made:
    """Compile a job so that its kernels take turns on the whole wafer.

    Cuts are tried until one fits; only what could fit is laid out. Where none does, what works on
    the largest tensors runs in tile loops, and cuts are tried again. The what-if of a job that does
    not fit is the attempt with the lowest peak.
    """
    hopeless = own_share(job) > 1
    made = None if hopeless else _compiled(job)
    if made is not None and not any(memory.overflow for memory in made.memories):
        return made
    looped = _with_loops(job)
    if looped is None:
        return made or _compiled(job)
    again = replace(_compiled(looped), job=looped)
    tried = (again,) if made is None else (made, again)
    return min(tried, key=lambda each: max(memory.peak for memory in each.memories))


def _with_loops(job: Job) -> Job | None:
    """Return the job with tile loops around its largest tensors, None where it has none."""
    config = job.config
    if config.tile_loops == "off":
        return None
    limit, graph = turn_room(config) // LOOPED_FROM, job.graph

    def plan() -> Job | None:
        tiled = tile_loops(graph, limit, DTYPE_BYTES[config.storage])
        if not tiled.loops:
            return None
        shapes = {name: value.shape for name, value in tiled.graph.values.items()}
        notes = (*job.plan.notes, tiled.sentence(limit))
        drafts = fuse(tiled.graph, config.fusion)
        planned = plan_kernels(
            drafts, shapes, tiled.graph.constants, config.accumulate, job.plan.outside, notes
        )
        return replace(job, graph=tiled.graph, plan=planned)

    key = (job.plan, limit, config.storage)
    found = job.cache.get("tile loops", key, plan)
    return found and replace(job, graph=found.graph, plan=found.plan)


def _compiled(job: Job) -> Made:
    """Return the first cut that fits, else the one with the lowest peak."""
    key = (job.plan, job.config.optimizer, job.config.storage)
    turns = job.cache.get("turns", key, lambda: plan_turns(job.graph, job.plan, job.config))
    job = replace(job, plan=turns)
    failed: list[_Attempt] = []
    for cut in cuts_to_try(job):
        attempt = _attempt(job, cut)
        if attempt.live_peak <= job.config.machine.data_sram_bytes:
            made = _laid_out(job, attempt)
            if not any(memory.overflow for memory in made.memories):
                return _with_meetings(job, made, cut)
        failed.append(attempt)
    coarse = [attempt for attempt in failed if attempt.cut.chunks < FINEST.chunks]
    best = min(coarse or failed, key=lambda attempt: attempt.live_peak)
    made = _with_meetings(job, _laid_out(job, best), best.cut)
    own = least_own(job.plan, job.shapes, job.config.storage)
    if own.size <= turn_room(job.config):
        return made
    note = (
        f"mode streaming: no cut would fit: in the turn of '{own.kernel}' its weights and what it "
        f"makes take {own.size / turn_room(job.config):.3g} times the SRAM of all PEs"
    )
    return replace(made, notes=(*made.notes, note))


def _with_meetings(job: Job, made: Made, cut: Cut) -> Made:
    """Return the attempt that was chosen, with the conflicts of flows that meet on links."""
    routed = made.routed
    met = job.cache.get(
        "streaming conflicts",
        _routed_key(job, cut),
        lambda: streaming_conflicts(
            routed.kernels, routed.transfers, routed.program.streams, made.placed.lengths()
        ),
    )
    return replace(made, program=replace(made.program, conflicts=(*met, *made.program.conflicts)))


def _routed_key(job: Job, cut: Cut) -> tuple[Hashable, ...]:
    """What routing and what follows from it depend on."""
    return *_placed_key(job, cut), cut, job.config.prefetch, routing_key(job.routing)


def _placed_key(job: Job, cut: Cut) -> tuple[Hashable, ...]:
    """What the placement depends on."""
    config = job.config
    return (
        job.plan, timeless(config.machine), config.storage, config.pe_caps, cut.chunks, cut.share
    )  # fmt: skip


def _attempt(job: Job, cut: Cut) -> _Attempt:
    plan, config, cache = job.plan, job.config, job.cache
    job.progress.stage("sizing", len(plan.drafts), "kernels")
    placed = cache.get(
        "streaming placement", _placed_key(job, cut),
        lambda: place_streaming(plan, job.shapes, config, cut.chunks, cut.share),
    )  # fmt: skip
    known = _routed_key(job, cut)
    placed = with_routing(placed, plan, job.shapes, config, job.routing)
    job.progress.stage("routing", 1, "plan")
    routed = cache.get("streaming routing", known, lambda: _route(job, placed, cut))
    wanted = cache.get(
        "streaming requests",
        known,
        lambda: shared_requests(
            routed.kernels, plan.models, routed.transfers, routed.program.streams, config.storage
        ),
    )
    return _Attempt(cut, placed, routed, wanted, wanted.live_peak)


def _laid_out(job: Job, attempt: _Attempt) -> Made:
    """Return an attempt with its buffers laid out."""
    config, routed = job.config, attempt.routed
    machine = config.machine
    job.progress.stage("memory", len(routed.kernels), "kernels")
    memories = job.cache.get(
        "streaming memory",
        _routed_key(job, attempt.cut),
        lambda: shared_memory(routed.kernels, attempt.wanted, machine),
    )
    buffers = tuple(buffer for memory in memories for buffer in memory.buffers)
    deep = len(routed.kernels) > DEEP_KERNELS
    samples = config.samples or (1 if deep else STREAMING_SAMPLES)
    program = replace(routed.program, buffers=buffers, samples=samples, machine=machine)
    notes = (*job.plan.notes, *around_defects(machine))
    return Made(attempt.placed, routed, program, memories, notes)


def _away(job: Job, cut: Cut, outputs: Sequence[str]) -> Away:
    """Return the activations that wait outside."""
    if cut.kept == inf:
        return frozenset()
    plan, config = job.plan, job.config
    budget = cut.kept * turn_room(config)
    return job.cache.get(
        "away",
        (plan, config.storage, config.prefetch, budget),
        lambda: plan_away(
            plan.drafts, job.shapes, config.storage, config.prefetch, outputs, budget
        ),
    )


def _route(job: Job, placed: PlacedPlan, cut: Cut) -> Routed:
    graph, plan, config = job.graph, job.plan, job.config
    machine, ends, lengths = config.machine, placed.ends, placed.lengths()
    shapes = {name: value.shape for name, value in graph.values.items()}
    tilings = {name: end.tiling for name, end in ends.items()}
    sent = gradients(plan)
    outputs = tuple(dict.fromkeys((*graph.outputs, *sorted(sent))))
    away = _away(job, cut, outputs)
    edges = plan_edges(plan.drafts, plan.models, tilings, shapes, outputs, cut.chunks, turns=True)
    edges = with_away(edges, away, plan.drafts)
    made = make_transfers(edges, ends, lengths, shapes, machine, config.storage)
    _, new = job.cache.get("trained state", graph, lambda: trained_state(graph))
    leaving = new | (sent - set(graph.outputs)) | {tensor for tensor, _ in away}
    order = [draft.name for draft in plan.drafts]
    slotted = stream_slots(made, order, config.prefetch)
    transfers = leaving_state(slotted, leaving, order, config.prefetch)
    kernels = tuple(
        make_kernel(
            draft, ends[draft.name].region, placed,
            kernel_legs(plan.models[draft.name], ends[draft.name], machine),
        )
        for draft in plan.drafts
    )  # fmt: skip
    streams = weight_streams(
        kernels, plan.models, machine, config.storage, config.prefetch, late=cut.late
    )
    place = {kernel.id: index for index, kernel in enumerate(kernels)}
    colored = turn_colors(transfers, [turns_of(t, place) for t in transfers], machine)
    transfers = tuple(
        replace(transfer, legs=painted(transfer.legs, color))
        for transfer, color in zip(transfers, colored.colors, strict=True)
    )
    program = Program(
        machine=machine,
        tensors=job.cache.get(
            "tensors",
            (plan, graph, config.storage),
            lambda: make_tensors(
                graph, (*plan.drafts, *plan.outside), config.storage, job.contents
            ),
        ),
        kernels=kernels,
        transfers=transfers,
        buffers=(),
        order=(tuple(kernel.id for kernel in kernels),),
        conflicts=color_conflicts(transfers, colored.sharing),
        samples=STREAMING_SAMPLES,
        storage=config.storage,
        accumulate=config.accumulate,
        mode="streaming",
        regions=(turn_area(machine),),
        streams=streams,
        outside=make_outside(plan),
    )
    return Routed(kernels, transfers, colored.used, None, program)
