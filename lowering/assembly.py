"""What both modes of the compiler pass on: jobs, routed kernels, and the parts of a Program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.geometry import Rect
from engine.kernels.problem import Shapes
from engine.program import Kernel, Leg, Outside, Program, Tensor, Transfer
from engine.progress import Progress
from lowering.cache import StageCache
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.passes.fuse import KernelDraft
from lowering.stages.experts import Routing
from lowering.stages.memory import KernelMemory
from lowering.stages.plan import KernelPlan, PlacedPlan


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What a compile works on."""

    graph: Graph
    plan: KernelPlan
    contents: Mapping[str, str]
    config: CompileConfig
    progress: Progress
    cache: StageCache
    routing: Routing = field(default_factory=dict)
    """experts that the tokens of mixtures take, as far as computed"""

    @property
    def shapes(self) -> Shapes:
        """shapes of all values, by name"""
        return {name: value.shape for name, value in self.graph.values.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    placed: PlacedPlan
    routed: Routed
    program: Program
    memories: tuple[KernelMemory, ...]
    notes: tuple[str, ...] = ()
    """what choices made of the plan, as sentences for the report"""
    job: Job | None = None
    """what it was made from where that is not the job that was asked for"""


@dataclass(frozen=True, slots=True, eq=False)
class Routed:
    kernels: tuple[Kernel, ...]
    transfers: tuple[Transfer, ...]
    colors: int
    crowded: tuple[int, int] | None
    program: Program


def make_kernel(
    draft: KernelDraft, region: Rect, placed: PlacedPlan, legs: tuple[Leg, ...]
) -> Kernel:
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
        experts=placed.experts.get(draft.name, ()),
        tags=(("kind", draft.kind), *((("phase", draft.phase),) if draft.phase else ())),
        origin=draft.origin,
    )


def make_outside(plan: KernelPlan) -> tuple[Outside, ...]:
    """Return the work of a plan that is not done on the wafer."""
    late = {name for draft in plan.drafts for name in draft.writes}
    found = []
    for draft in plan.outside:
        before = not late.intersection(draft.reads)
        if not before:
            late.update(draft.writes)
        found.append(
            Outside(draft.name, draft.spec, draft.reads, draft.writes, draft.weights, before)
        )
    return tuple(found)


def make_tensors(
    graph: Graph, drafts: Sequence[KernelDraft], storage: str, contents: Mapping[str, str]
) -> tuple[Tensor, ...]:
    names = dict.fromkeys(
        name for d in drafts for op in d.spec.ops for name in (*op.inputs, *op.outputs)
    )
    roles = dict.fromkeys(graph.outputs, "output") | dict.fromkeys(graph.inputs, "input")
    roles |= dict.fromkeys((*graph.constants, *graph.unknown), "weight")
    return tuple(
        Tensor(name, graph.values[name].shape, graph.values[name].dtype, storage,
               roles.get(name, "activation"), contents.get(name))
        for name in names
    )  # fmt: skip
