"""Compiling for weight streaming, and the choice between the two modes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from engine.geometry import Rect
from engine.kernels.footprint import stored_bytes
from engine.program import Program
from engine.timing.clock import simulate
from engine.timing.net import build_net
from lowering.assembly import Job, Made, Routed, make_kernel, make_outside, make_tensors
from lowering.config import CompileConfig
from lowering.machine_change import timeless
from lowering.passes.phases import trained_state
from lowering.stages.edges import plan_edges
from lowering.stages.experts import routing_key, with_routing
from lowering.stages.plan import KernelPlan, PlacedPlan
from lowering.stages.routing import kernel_legs
from lowering.stages.shared_memory import shared_memory
from lowering.stages.state import gradients, leaving_state, plan_turns
from lowering.stages.streaming import (
    place_streaming,
    stream_slots,
    streaming_conflicts,
    turns_of,
    weight_streams,
)
from lowering.stages.transfers import make_transfers
from lowering.stages.turn_colors import color_conflicts, painted, turn_colors

STREAMING_SAMPLES = 2
"""samples sent through by default: the second shows how the first one's end is overlapped"""
FINER_CHUNKS = (32, 128)
"""most chunks a sample is cut into where eight overfill the SRAM"""
DEEP_KERNELS = 200
"""a deeper model is sent one sample by default: another one only repeats its steps"""
TIMED_SAMPLES = (2, 4)
"""runs whose difference is the rate by which modes are compared"""
MEGACYCLE = 1_000_000


@dataclass(frozen=True, slots=True)
class Cut:
    """How finely samples are cut, and what SRAM is saved beside."""

    chunks: int
    """most chunks a sample is cut into"""
    thrifty: bool = False
    """tiles have room for what they read as a whole, and weights come as late as they can"""


def compile_streaming(job: Job) -> Made:
    """Compile a job so that its kernels take turns on the whole wafer.

    Where slots overfill a PE the samples are cut finer, so that a slot holds less; where that does
    not do, tiles are sized for whole samples and weights come later.
    """
    key = (job.plan, job.config.optimizer, job.config.storage)
    turns = job.cache.get("turns", key, lambda: plan_turns(job.graph, job.plan, job.config))
    job = replace(job, plan=turns)
    cut = Cut(job.config.max_chunks)
    best = _attempt(job, cut)
    for finer in (*(Cut(chunks) for chunks in FINER_CHUNKS), Cut(FINER_CHUNKS[-1], thrifty=True)):
        if not any(memory.overflow for memory in best.memories):
            break
        if finer.thrifty or finer.chunks > job.config.max_chunks:
            tried = _attempt(job, finer)
            if _peak(tried) < _peak(best):
                best, cut = tried, finer
    return _with_meetings(job, best, cut)


def _peak(made: Made) -> int:
    return max(memory.peak for memory in made.memories)


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
    return *_placed_key(job, cut), job.config.prefetch, routing_key(job.routing)


def _placed_key(job: Job, cut: Cut) -> tuple[Hashable, ...]:
    """What the placement depends on."""
    config = job.config
    return job.plan, timeless(config.machine), config.storage, config.pe_caps, cut


def _attempt(job: Job, cut: Cut) -> Made:
    plan, config, cache = job.plan, job.config, job.cache
    machine = config.machine
    job.progress.stage("sizing", len(plan.drafts), "kernels")
    placed = cache.get(
        "streaming placement", _placed_key(job, cut),
        lambda: place_streaming(plan, config, cut.chunks, whole=cut.thrifty),
    )  # fmt: skip
    known = _routed_key(job, cut)
    placed = with_routing(placed, plan, job.shapes, config, job.routing)
    job.progress.stage("routing", 1, "plan")
    routed = cache.get("streaming routing", known, lambda: _route(job, placed, cut))
    job.progress.stage("memory", len(plan.drafts), "kernels")
    memories = cache.get(
        "streaming memory",
        known,
        lambda: shared_memory(
            routed.kernels, plan.models, routed.transfers, routed.program.streams, machine,
            config.storage,
        ),
    )  # fmt: skip
    buffers = tuple(buffer for memory in memories for buffer in memory.buffers)
    deep = len(routed.kernels) > DEEP_KERNELS
    samples = config.samples or (1 if deep else STREAMING_SAMPLES)
    program = replace(routed.program, buffers=buffers, samples=samples, machine=machine)
    return Made(placed, routed, program, memories, plan.notes)


def _route(job: Job, placed: PlacedPlan, cut: Cut) -> Routed:
    graph, plan, config = job.graph, job.plan, job.config
    machine, ends, lengths = config.machine, placed.ends, placed.lengths()
    shapes = {name: value.shape for name, value in graph.values.items()}
    tilings = {name: end.tiling for name, end in ends.items()}
    sent = gradients(plan)
    outputs = tuple(dict.fromkeys((*graph.outputs, *sorted(sent))))
    edges = plan_edges(plan.drafts, plan.models, tilings, shapes, outputs, cut.chunks)
    made = make_transfers(edges, ends, lengths, shapes, machine, config.storage)
    _, new = job.cache.get("trained state", graph, lambda: trained_state(graph))
    leaving = new | (sent - set(graph.outputs))
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
        kernels, plan.models, machine, config.storage, config.prefetch, late=cut.thrifty
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
        regions=(Rect(0, 0, machine.rows, machine.cols),),
        streams=streams,
        outside=make_outside(plan),
    )
    return Routed(kernels, transfers, colored.used, None, program)


def too_big(plan: KernelPlan, config: CompileConfig) -> str:
    """Return why no pipeline can hold the weights, empty if one might."""
    machine = config.machine
    weights = sum(stored_bytes(model, config.storage) for model in plan.models.values())
    room = machine.data_sram_bytes * machine.working_pes
    if weights <= room:
        return ""
    return (
        f"mode streaming: the weights take {weights / 1e9:,.1f} GB, the SRAM of {machine.name} "
        f"holds {room / 1e9:,.1f} GB"
    )


def choose_mode(job: Job, pipeline: Made) -> tuple[Made, tuple[str, ...]]:
    """Return the pipeline where it fits and is not slower, else the streaming compile."""
    short, fast, bound = shortage(pipeline, job.config), _pipeline_rate(pipeline), _most(job)
    if not short and bound <= fast:
        return pipeline, (
            f"mode pipeline: it fits and is not slower; pipeline {fast:.3g} samples/Mcycle, "
            f"streaming at most {bound:.3g}: its weights take that long to arrive (model)",
        )
    streaming = compile_streaming(job)
    slow = _timed_rate(streaming)
    if short:
        figures = (
            f"pipeline at most {fast:.3g} (model), streaming {slow:.3g} samples/Mcycle (timed)"
        )
        if not shortage(streaming, job.config):
            return streaming, (f"mode streaming: as a pipeline {short}; {figures}",)
        return pipeline, (f"mode pipeline: neither mode fits; {figures}",)
    fast = _timed_rate(pipeline)
    figures = f"pipeline {fast:.3g}, streaming {slow:.3g} samples/Mcycle (timed)"
    if slow > fast:
        return streaming, (f"mode streaming: faster; {figures}",)
    return pipeline, (f"mode pipeline: it fits and is not slower; {figures}",)


def shortage(made: Made, config: CompileConfig) -> str:
    """Return what a compile lacks on its machine, empty where it fits."""
    full = next((memory for memory in made.memories if memory.overflow), None)
    if full is not None:
        return f"kernel '{full.kernel}' is short of {full.overflow:,} B"
    free = config.machine.colors - config.machine.reserved_colors
    if made.routed.colors > free:
        return f"a router is short of {made.routed.colors - free} colors"
    return ""


def _pipeline_rate(made: Made) -> float:
    return MEGACYCLE / max(made.placed.lengths().values())


def _most(job: Job) -> float:
    """Samples a megacycle that streaming cannot exceed: the ports carry every weight each time.

    Known before anything is placed, so that a pipeline that beats it needs no second compile.
    """
    machine, dtype = job.config.machine, job.config.storage
    held = (stored_bytes(model, dtype) for model in job.plan.models.values())
    words = sum(-(-size // machine.wavelet_bytes) for size in held)
    arriving = words / machine.weight_wavelets_per_cycle
    return MEGACYCLE / arriving if arriving else float("inf")


def _timed_rate(made: Made) -> float:
    """Samples a megacycle once the run has begun: what two more samples take."""
    lengths = made.placed.lengths()
    ends = [
        simulate(build_net(replace(made.program, samples=count), lengths)).makespan
        for count in TIMED_SAMPLES
    ]
    return MEGACYCLE * (TIMED_SAMPLES[1] - TIMED_SAMPLES[0]) / max(1, ends[1] - ends[0])
