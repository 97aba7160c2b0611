"""The compiler: a Graph and a config in, a Program with its report out, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.geometry import Rect
from engine.machine import PRESETS, MachineSpec, generic_mesh
from engine.program import Kernel, Leg, Program, Tensor, Transfer
from engine.progress import NO_PROGRESS, Progress
from engine.store import TensorStore
from lowering.cache import StageCache
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.passes import run_passes
from lowering.passes.fuse import KernelDraft, fuse
from lowering.report import CompileReport
from lowering.reporting import make_report
from lowering.stages.contention import find_conflicts
from lowering.stages.edges import plan_edges
from lowering.stages.memory import KernelMemory, kernel_memory
from lowering.stages.plan import (
    DoesNotFit,
    KernelPlan,
    PlacedPlan,
    place_kernels,
    plan_kernels,
    smallest_machine,
)
from lowering.stages.routing import assign_colors, kernel_legs
from lowering.stages.slots import live_slots, needed_slots
from lowering.stages.transfers import LEAST_SLOTS, make_transfers, with_slots

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
    def fits(self) -> bool:
        """True when the program runs on the machine as it is"""
        return self.report.fits


@dataclass(frozen=True, slots=True, eq=False)
class _Routed:
    kernels: tuple[Kernel, ...]
    transfers: tuple[Transfer, ...]
    colors: int
    crowded: tuple[int, int] | None
    program: Program


def compile_graph(
    graph: Graph,
    config: CompileConfig,
    progress: Progress = NO_PROGRESS,
    cache: StageCache | None = None,
) -> Compiled:
    """Compile a graph for a machine as a layer pipeline.

    What does not fit is in the report, and the program is then a what-if.

    Raises:
        DoesNotFit: the grid has no room for the kernels even with unlimited SRAM.
        Cancelled: the progress was asked to stop.
    """
    cache = cache or StageCache()
    imported = graph
    graph = cache.get("passes", imported, lambda: run_passes(imported))
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = cache.get("kernels", graph, lambda: plan_kernels(fuse(graph), shapes, graph.constants))
    store, contents = cache.get("store", graph, lambda: _store(graph))
    try:
        made = _settle(_Job(graph, plan, contents, config, progress, cache))
    except DoesNotFit as error:
        raise error.on(_smallest(plan, config, progress)) from None
    program, placed, routed = made.program, made.placed, made.routed
    report = make_report(graph, plan, placed, program, made.memories, routed.colors, routed.crowded)
    if not report.fits:
        fits_key = (graph, config.machine, config.storage, config.pe_caps)
        smaller = cache.get("machine", fits_key, lambda: _smallest(plan, config, progress))
        report = replace(report, smallest_machine=smaller)
    program = replace(program, would_run=report.fits)
    return Compiled(imported, program, store, report, config)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """What a compile works on."""

    graph: Graph
    plan: KernelPlan
    contents: Mapping[str, str]
    config: CompileConfig
    progress: Progress
    cache: StageCache


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    placed: PlacedPlan
    routed: _Routed
    program: Program
    memories: tuple[KernelMemory, ...]


def _settle(job: _Job) -> _Made:
    """Place, route and lay out memory; again with room to spare where slots overfill a PE.

    Chunks and slots are known only after routing, so a kernel whose SRAM overflows is sized anew:
    for slots of whole samples first, then with the missing bytes set aside.
    """
    spare: dict[str, int] = {}
    made = _attempt(job, spare)
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


def _attempt(job: _Job, spare: Mapping[str, int]) -> _Made:
    graph, plan, config, cache = job.graph, job.plan, job.config, job.cache
    key = (graph, config.machine, config.storage, config.pe_caps, tuple(sorted(spare.items())))
    placed = cache.get(
        "placement", key, lambda: place_kernels(plan, config, job.progress, dict(spare))
    )
    job.progress.stage("routing", 1, "plan")
    routed = cache.get(
        "routing",
        (*key, config.max_chunks),
        lambda: _route(graph, plan, placed, config, job.contents),
    )
    job.progress.stage("memory", len(plan.drafts), "kernels")
    program, memories = _with_memory(routed, plan, placed, config)
    return _Made(placed, routed, program, memories)


def _route(
    graph: Graph,
    plan: KernelPlan,
    placed: PlacedPlan,
    config: CompileConfig,
    contents: Mapping[str, str],
) -> _Routed:
    machine, ends, lengths = config.machine, placed.ends, placed.lengths()
    shapes = {name: value.shape for name, value in graph.values.items()}
    tilings = {name: end.tiling for name, end in ends.items()}
    edges = plan_edges(plan.drafts, plan.models, tilings, shapes, graph.outputs, config.max_chunks)
    transfers = make_transfers(edges, ends, lengths, shapes, machine, config.storage)
    own = [kernel_legs(plan.models[d.name], ends[d.name], machine) for d in plan.drafts]
    colors = assign_colors([t.legs for t in transfers] + own)
    transfers = tuple(
        replace(t, legs=tuple(replace(leg, color=c) for leg in t.legs))
        for t, c in zip(transfers, colors.colors, strict=False)
    )
    kernels = tuple(
        _kernel(draft, ends[draft.name].region, placed, tuple(replace(g, color=c) for g in legs))
        for draft, legs, c in zip(plan.drafts, own, colors.colors[len(transfers) :], strict=True)
    )
    program = Program(
        machine=machine,
        tensors=_tensors(graph, plan.drafts, config.storage, contents),
        kernels=kernels,
        transfers=transfers,
        buffers=(),
        order=tuple((kernel.id,) for kernel in kernels),
        conflicts=find_conflicts(kernels, transfers, lengths),
        samples=DEFAULT_SAMPLES,
        storage=config.storage,
    )
    return _Routed(kernels, transfers, colors.used, colors.crowded, program)


def _kernel(draft: KernelDraft, region: Rect, placed: PlacedPlan, legs: tuple[Leg, ...]) -> Kernel:
    return Kernel(
        id=draft.name,
        family=draft.family,
        spec=draft.spec,
        region=region,
        tiling=placed.ends[draft.name].tiling,
        reads=draft.reads,
        writes=draft.writes,
        weights=draft.weights,
        legs=legs,
        tags=(("kind", draft.kind), *((("phase", draft.phase),) if draft.phase else ())),
        origin=draft.origin,
    )


def _tensors(
    graph: Graph, drafts: Sequence[KernelDraft], storage: str, contents: Mapping[str, str]
) -> tuple[Tensor, ...]:
    names = dict.fromkeys(
        name for d in drafts for op in d.spec.ops for name in (*op.inputs, *op.outputs)
    )
    return tuple(
        Tensor(name, graph.values[name].shape, graph.values[name].dtype, storage,
               _role(graph, name), contents.get(name))
        for name in names
    )  # fmt: skip


def _role(graph: Graph, name: str) -> str:
    if name in graph.constants or name in graph.unknown:
        return "weight"
    if name in graph.inputs:
        return "input"
    return "output" if name in graph.outputs else "activation"


def _with_memory(
    routed: _Routed, plan: KernelPlan, placed: PlacedPlan, config: CompileConfig
) -> tuple[Program, tuple[KernelMemory, ...]]:
    samples = config.samples or min(DEFAULT_SAMPLES, 2 * len(routed.kernels))
    program = replace(routed.program, samples=samples)
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


def _smallest(plan: KernelPlan, config: CompileConfig, progress: Progress) -> str | None:
    here = config.machine.pes
    known: Mapping[str, MachineSpec] = PRESETS
    meshes = [generic_mesh(side, side) for side in (64, 128, 256, 512)]
    candidates = sorted([*known.values(), *meshes], key=lambda machine: machine.pes)
    return smallest_machine(plan, config, [m for m in candidates if m.pes > here], progress)
