"""The compiler: a Graph and a config in, a Program with its report out, stage by stage."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from engine.program import Kernel, Loader, Program, Transfer
from engine.progress import NO_PROGRESS, Progress
from engine.store import TensorStore
from lowering.assembly import Job, Made, Routed, make_kernel, make_outside, make_tensors
from lowering.cache import StageCache
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.machine_change import timeless
from lowering.modes import choose_mode, free_colors, missing_colors, too_big
from lowering.passes import run_passes
from lowering.passes.cold import keep_tables_outside
from lowering.passes.fuse import KernelDraft, fuse
from lowering.passes.micro_batches import micro_batched
from lowering.passes.recompute import checkpoint
from lowering.remedy import find_remedy, pipeline_remedy
from lowering.report import CompileReport
from lowering.reporting import make_report
from lowering.stages.contention import find_conflicts
from lowering.stages.edges import plan_edges
from lowering.stages.experts import Routing, routing_key, with_routing
from lowering.stages.memory import KernelMemory, kernel_memory
from lowering.stages.plan import (
    DoesNotFit,
    KernelPlan,
    PlacedPlan,
    place_kernels,
    plan_kernels,
)
from lowering.stages.routing import assign_colors, kernel_legs
from lowering.stages.slots import live_slots, needed_slots
from lowering.stages.transfers import LEAST_SLOTS, make_transfers, with_slots
from lowering.stages.turn_colors import host_color
from lowering.streaming import compile_streaming

DEFAULT_SAMPLES = 4
SETTLE_ROUNDS = 4
"""times a placement is made anew for SRAM that slots overfill"""


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A compiled model."""

    graph: Graph
    """as imported, before any pass"""
    program: Program
    store: TensorStore
    report: CompileReport
    config: CompileConfig

    @property
    def fed(self) -> Graph:
        """the graph whose inputs a run takes: as imported, or its micro-batches"""
        return micro_batched(self.graph, self.config.micro_batches)

    @property
    def fits(self) -> bool:
        """True when the program runs on the machine as it is"""
        return self.report.fits


def compile_graph(
    graph: Graph,
    config: CompileConfig,
    progress: Progress = NO_PROGRESS,
    cache: StageCache | None = None,
    routing: Routing | None = None,
) -> Compiled:
    """Compile a graph for a machine as a layer pipeline.

    Where `routing` tells which experts the tokens of a mixture take, its cycles follow them;
    elsewhere tokens are assumed to spread evenly. What does not fit is in the report, and the
    program is then a what-if.

    Raises:
        DoesNotFit: the grid has no room for the kernels even with unlimited SRAM.
        Cancelled: the progress was asked to stop.
    """
    cache = cache or StageCache()
    imported, joining, summed = graph, config.fusion, config.accumulate
    graph = passed_graph(imported, config, cache)
    store, contents = cache.get("store", graph, lambda: _store(graph))
    rewritten = config.embedding != "wafer" or config.activation_mb is not None
    said_in = f"{config.storage} {config.optimizer}" if rewritten else ""
    graph, plan = cache.get(
        "kernels",
        (graph, joining, summed, config.embedding, config.activation_mb, said_in),
        lambda: _kernels(graph, config),
    )
    job = Job(graph, plan, contents, config, progress, cache, routing or {})
    made, reason = _choose(job)
    program, placed, routed = made.program, made.placed, made.routed
    if made.job is not None:
        graph, plan = made.job.graph, made.job.plan
    report = make_report(graph, plan, placed, program, made.memories, routed.colors, routed.crowded)
    if not report.fits:
        remedy = find_remedy(job, made, _settle)
        notes = (*report.notes, *remedy.note())
        report = replace(report, smallest_machine=remedy.machine, wafers=remedy.wafers, notes=notes)
    report = replace(report, notes=(*report.notes, *made.notes, *reason))
    program = replace(
        program, would_run=report.fits, loader=_loader(config),
        host_channels=config.host_channels or 0,
    )  # fmt: skip
    return Compiled(imported, program, store, report, config)


def passed_graph(graph: Graph, config: CompileConfig, cache: StageCache) -> Graph:
    """Return a graph with its micro-batches after the passes, before it becomes kernels."""
    parts, off = config.micro_batches, config.passes_off
    whole = graph
    if parts > 1:
        whole = cache.get("micro batches", (graph, parts), lambda: micro_batched(graph, parts))
    return cache.get(
        "passes", (whole, off, config.weights),
        lambda: run_passes(whole, off, config.weights),
    )  # fmt: skip


def _kernels(graph: Graph, config: CompileConfig) -> tuple[Graph, KernelPlan]:
    """Return the graph under its activation budget, and the kernels it becomes."""
    notes: tuple[str, ...] = ()
    outside: tuple[KernelDraft, ...] = ()
    if config.embedding == "host":
        cold = keep_tables_outside(graph)
        graph, outside, notes = cold.graph, cold.outside, (cold.sentence(config.storage),)
    if config.activation_mb is not None:
        budget = int(config.activation_mb * 1e6)
        found = checkpoint(
            graph, budget, config.storage, config.fusion, outside=config.outside_phase
        )
        graph, notes = found.graph, (*notes, found.sentence(budget))
    shapes = {name: value.shape for name, value in graph.values.items()}
    drafts = fuse(graph, config.fusion)
    return graph, plan_kernels(drafts, shapes, graph.constants, config.accumulate, outside, notes)


def _loader(config: CompileConfig) -> Loader | None:
    """Return the host's loader in cycles of the machine, None where samples wait decoded."""
    if config.decode_rate is None:
        return None
    cycles = max(1, ceil(config.machine.clock_hz / config.decode_rate))
    return Loader(config.loader_workers, cycles, config.loader_prefetch)


def _choose(job: Job) -> tuple[Made, tuple[str, ...]]:
    """Compile in the mode asked for; `auto` streams what a pipeline cannot hold."""
    mode = job.config.mode
    if mode == "streaming":
        return compile_streaming(job), ()
    if mode == "auto" and (reason := too_big(job)):
        return compile_streaming(job), (reason,)
    try:
        made = _settle(job)
    except DoesNotFit as error:
        if mode == "auto":
            return compile_streaming(job), (f"mode streaming: a pipeline has no room: {error}",)
        remedy = pipeline_remedy(job, _settle)
        raise error.on(remedy.machine, remedy.wafers) from None
    if mode == "pipeline":
        return made, ()
    return choose_mode(job, made)


def _settle(job: Job) -> Made:
    """Place, route and lay out memory; again with room to spare where slots overfill a PE.

    Chunks and slots are known only after routing, so a kernel whose SRAM overflows is sized anew:
    for slots of whole samples first, then with the missing bytes set aside. Not where streaming is
    open and routers would need twice their colors: no room to spare would bring those.
    """
    spare: dict[str, int] = {}
    made = _attempt(job, spare)
    if job.config.mode == "auto" and missing_colors(made, job.config) > free_colors(job.config):
        return made
    for _ in range(SETTLE_ROUNDS):
        over = {memory.kernel: memory.overflow for memory in made.memories if memory.overflow}
        if not over or made.placed.finding is not None:
            break
        for name, missing in over.items():
            spare[name] = spare[name] + missing + missing // 2 if name in spare else 0
        trial = _attempt(job, spare)
        if trial.placed.finding is not None:
            break
        made = trial
    return made


def _attempt(job: Job, spare: Mapping[str, int]) -> Made:
    graph, plan, config, cache = job.graph, job.plan, job.config, job.cache
    key = (*_placement_key(plan, config), tuple(sorted(spare.items())))
    placed = cache.get(
        "placement", key, lambda: place_kernels(plan, config, job.progress, dict(spare))
    )
    known = (*key, config.max_chunks, config.route_order, routing_key(job.routing))
    placed = with_routing(placed, plan, job.shapes, config, job.routing)
    job.progress.stage("routing", 1, "plan")
    routed = cache.get(
        "routing",
        known,
        lambda: _route(graph, plan, placed, config, job.contents),
    )
    job.progress.stage("memory", len(plan.drafts), "kernels")
    program, memories = _with_memory(routed, plan, placed, config)
    return Made(placed, routed, program, memories, plan.notes)


def _placement_key(plan: KernelPlan, config: CompileConfig) -> tuple[Hashable, ...]:
    """What sizing and placement depend on."""
    machine = timeless(config.machine)
    return (
        plan,
        machine,
        config.storage,
        config.pe_caps,
        config.pins,
        config.aspect,
        config.objective,
    )


def _route(
    graph: Graph,
    plan: KernelPlan,
    placed: PlacedPlan,
    config: CompileConfig,
    contents: Mapping[str, str],
) -> Routed:
    machine, ends, lengths = config.machine, placed.ends, placed.lengths()
    shapes = {name: value.shape for name, value in graph.values.items()}
    tilings = {name: end.tiling for name, end in ends.items()}
    edges = plan_edges(plan.drafts, plan.models, tilings, shapes, graph.outputs, config.max_chunks)
    transfers = make_transfers(
        edges, ends, lengths, shapes, machine, config.storage, config.route_order
    )
    own = [kernel_legs(plan.models[d.name], ends[d.name], machine) for d in plan.drafts]
    hosted = [host_color(t, machine) for t in transfers]
    legs = [t.legs if kept is None else () for t, kept in zip(transfers, hosted, strict=True)]
    colors = assign_colors(legs + own)
    transfers = tuple(
        replace(t, legs=tuple(replace(leg, color=c if kept is None else kept) for leg in t.legs))
        for t, kept, c in zip(transfers, hosted, colors.colors, strict=False)
    )
    kernels = tuple(
        make_kernel(
            draft, ends[draft.name].region, placed, tuple(replace(g, color=c) for g in legs)
        )
        for draft, legs, c in zip(plan.drafts, own, colors.colors[len(transfers) :], strict=True)
    )
    program = Program(
        machine=machine,
        tensors=make_tensors(graph, (*plan.drafts, *plan.outside), config.storage, contents),
        kernels=kernels,
        transfers=transfers,
        buffers=(),
        order=tuple((kernel.id,) for kernel in kernels),
        conflicts=find_conflicts(kernels, transfers, lengths),
        samples=DEFAULT_SAMPLES,
        storage=config.storage,
        accumulate=config.accumulate,
        outside=make_outside(plan),
    )
    return Routed(kernels, transfers, colors.used, colors.crowded, program)


def _with_memory(
    routed: Routed, plan: KernelPlan, placed: PlacedPlan, config: CompileConfig
) -> tuple[Program, tuple[KernelMemory, ...]]:
    samples = config.samples or min(DEFAULT_SAMPLES, 2 * len(routed.kernels))
    program = replace(routed.program, samples=samples, machine=config.machine)
    out_slots = LEAST_SLOTS if config.out_slots is None else config.out_slots
    if config.in_slots is None:
        wanted = needed_slots(program, placed.lengths())
    else:
        wanted = live_slots(routed.transfers, config.in_slots, out_slots)
    transfers = with_slots(routed.transfers, wanted, out_slots)
    memories = _memories(routed.kernels, plan, transfers, config)
    if config.in_slots is None and any(m.overflow for m in memories):
        transfers = _thrifty(transfers, memories)
        memories = _memories(routed.kernels, plan, transfers, config)
    buffers = tuple(buffer for memory in memories for buffer in memory.buffers)
    return replace(program, transfers=transfers, buffers=buffers), memories


def _memories(
    kernels: Sequence[Kernel],
    plan: KernelPlan,
    transfers: Sequence[Transfer],
    config: CompileConfig,
) -> tuple[KernelMemory, ...]:
    touching: dict[str, list[Transfer]] = {kernel.id: [] for kernel in kernels}
    for transfer in transfers:
        for name in {transfer.producer, *transfer.consumers} & touching.keys():
            touching[name].append(transfer)
    return tuple(
        kernel_memory(k, plan.models[k.id], touching[k.id], config.machine, config.storage)
        for k in kernels
    )


def _thrifty(
    transfers: Sequence[Transfer], memories: Sequence[KernelMemory]
) -> tuple[Transfer, ...]:
    """Cut slots into full PEs to the least that cannot deadlock: one sample's chunks."""
    full = {memory.kernel for memory in memories if memory.overflow}
    return tuple(
        replace(t, in_slots=(min(t.in_slots[0], max(LEAST_SLOTS, t.chunks)),))
        if full & set(t.consumers)
        else t
        for t in transfers
    )


def _store(graph: Graph) -> tuple[TensorStore, dict[str, str]]:
    """Return the weights by content, and the content of each by name."""
    store = TensorStore()
    return store, {name: store.put(array) for name, array in graph.constants.items()}
