"""Making the compile report from a finished program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

from engine.kernels.cost import KernelModel
from engine.kernels.dequantize.spec import VECTOR_OPS
from engine.kernels.gather.spec import Gather, GatherND
from engine.kernels.moe.spec import Moe
from engine.kernels.problem import Shapes
from engine.program import Program
from engine.transfers import busiest_words, transfer_patterns
from lowering.graph import Graph
from lowering.lifetimes import lifetimes
from lowering.passes.fuse import KernelDraft
from lowering.report import CompileReport, KernelRow, Overflow
from lowering.sram_overflow import sram_overflow
from lowering.stages.memory import KernelMemory
from lowering.stages.plan import KernelPlan, PlacedPlan
from lowering.turn_overflow import turn_overflow

MEGACYCLE = 1_000_000
_MATRIX = 2
"""axes of a matrix"""
SHOWN_EXPERTS = 16
"""experts of a mixture whose tokens are listed one by one"""


def make_report(
    graph: Graph,
    plan: KernelPlan,
    placed: PlacedPlan,
    program: Program,
    memories: Sequence[KernelMemory],
    colors: int,
    crowded: tuple[int, int] | None,
) -> CompileReport:
    """Return the report of a program."""
    kinds = {draft.name: draft.kind for draft in plan.drafts}
    lengths = placed.lengths()
    slowest = max(lengths.values()) if program.mode == "pipeline" else sum(lengths.values())
    carried = _carried_cycles(program)
    work = {name: _macs(model) for name, model in plan.models.items()}
    again = {draft.name for draft in plan.drafts if draft.phase == "recompute"}
    rows = []
    for kernel, memory in zip(program.kernels, memories, strict=True):
        cycles, moving = lengths[kernel.id], max(1, carried.get(kernel.id, 1))
        compute = placed.profiles[kernel.id].total("compute")
        rows.append(
            KernelRow(
                name=kernel.id, kind=kinds[kernel.id],
                samples_per_mcycle=MEGACYCLE / max(cycles, moving),
                compute_samples_per_mcycle=MEGACYCLE / cycles,
                transmission_samples_per_mcycle=MEGACYCLE / moving,
                active_pes=kernel.region.area,
                utilization=compute / (kernel.region.area * slowest),
                region=kernel.region, cycles=cycles, sram_bytes=memory.peak,
                ops=kernel_flops(plan.models[kernel.id]), source_nodes=kernel.origin,
            )
        )  # fmt: skip
    find = turn_overflow if program.mode == "streaming" else sram_overflow
    overflows = [find(memory, program) for memory in memories if memory.overflow]
    overflows += _color_overflow(program, colors, crowded)
    return CompileReport(
        model=graph.name,
        machine=program.machine,
        rows=tuple(rows),
        parameters=graph.parameters,
        macs=sum(macs for name, macs in work.items() if name not in again),
        recomputed_macs=sum(work[name] for name in again),
        parameter_bytes=_bytes_of(program, ("weights", "weight slot")),
        activation_bytes=_bytes_of(program, ("in slot", "out slot")),
        activations=lifetimes(program),
        colors_used=colors,
        mode=program.mode,
        overflows=tuple(overflows),
        notes=(
            *((placed.finding.sentence,) if placed.finding else ()),
            *_integer_note(plan.models.values()),
            *_expert_notes(plan, placed, {n: v.shape for n, v in graph.values.items()}),
        ),
    )


def _integer_note(models: Collection[KernelModel]) -> tuple[str, ...]:
    """Say how many kernels keep their weights as integers, and what that costs."""
    kept = [model for model in models if model.scales]
    if not kept:
        return ()
    return (
        f"{len(kept)} of {len(models)} kernels keep their weights as int8 "
        f"({sum(model.weights for model in kept):,} weights); making floats of them takes "
        f"{VECTOR_OPS} vector operations an element, counted as overhead (model)",
    )


def _expert_notes(plan: KernelPlan, placed: PlacedPlan, shapes: Shapes) -> tuple[str, ...]:
    """Say where the tokens of mixtures go: as computed, or as assumed."""
    mixtures = [draft.name for draft in plan.drafts if isinstance(draft.spec.main_op, Moe)]
    notes = [_routing_note(name, placed.experts[name]) for name in mixtures
             if name in placed.experts]  # fmt: skip
    assumed = len(mixtures) - len(notes)
    if assumed:
        kernels = "1 mixture" if assumed == 1 else f"{assumed} mixtures"
        notes.append(
            f"tokens are assumed to spread evenly over the experts of {kernels}; computing values "
            "gives every expert those it gets (model)"
        )
    return (*notes, *_fetch_note(plan, shapes))


def _fetch_note(plan: KernelPlan, shapes: Shapes) -> tuple[str, ...]:
    """Name the kernels that look whole matrices up by computed indices, as experts are."""
    found = [draft.name for draft in plan.drafts if _fetches_matrices(draft, shapes)]
    if not found:
        return ()
    return (
        f"{len(found)} kernels look up matrices by computed indices ({', '.join(found[:3])}): what "
        "they fetch travels, so their cycles are the same whatever the indices are",
    )


def _fetches_matrices(draft: KernelDraft, shapes: Shapes) -> bool:
    op = draft.spec.main_op
    if not isinstance(op, Gather | GatherND) or op.inputs[0] not in draft.weights:
        return False
    table, indices = shapes[op.inputs[0]], shapes[op.inputs[1]]
    depth = indices[-1] if isinstance(op, GatherND) and indices else 1
    return op.inputs[1] in draft.reads and len(table) - depth >= _MATRIX


def _routing_note(name: str, experts: Sequence[Sequence[int]]) -> str:
    counts = [sum(group) for group in zip(*experts, strict=True)]
    most, idle = max(counts), counts.count(0)
    listed = ":".join(map(str, counts))
    shown = f"tokens by expert {listed}; " if len(counts) <= SHOWN_EXPERTS else ""
    return (
        f"mixture '{name}' as computed for sample 0, in every sample: {shown}the busiest expert "
        f"takes {most:,} of {sum(counts):,}, {most * len(counts) / max(1, sum(counts)):.2f} x an "
        f"even share; {idle} of {len(counts)} take none"
    )


def kernel_flops(model: KernelModel) -> int:
    """Return the floating-point operations of one sample, a multiply-accumulate counted as two."""
    problem = model.problem
    each = {"mac": 2, "window": 1, "reduce": 1}.get(problem.work, 0)
    return each * problem.m * problem.k * problem.n + model.epilogue.flops


def _macs(model: KernelModel) -> int:
    problem = model.problem
    return problem.m * problem.k * problem.n if problem.work == "mac" else 0


def _carried_cycles(program: Program) -> dict[str, int]:
    """Return the cycles of the slowest transfer of each kernel at full rate, a sample."""
    slowest: dict[str, int] = {}
    for transfer in program.transfers:
        cycles = busiest_words(transfer_patterns(transfer.legs)) * transfer.chunks
        for name in (transfer.producer, *transfer.consumers):
            slowest[name] = max(slowest.get(name, 0), cycles)
    return slowest


def _bytes_of(program: Program, roles: Sequence[str]) -> int:
    """Return the bytes over all PEs; where kernels take turns those of the fullest turn."""
    areas = {kernel.id: kernel.region.area for kernel in program.kernels}
    mine = [b for b in program.buffers if b.role in roles]
    if program.mode == "pipeline":
        return sum(b.size * areas[b.kernel] for b in mine)
    change = [0] * (len(program.kernels) + 1)
    for buffer in mine:
        change[buffer.live[0]] += buffer.size * areas[buffer.kernel]
        change[buffer.live[1] + 1] -= buffer.size * areas[buffer.kernel]
    return max(accumulate(change))


def _color_overflow(program: Program, used: int, crowded: tuple[int, int] | None) -> list[Overflow]:
    machine = program.machine
    free = machine.colors - machine.reserved_colors
    if used <= free:
        return []
    where = f"router ({crowded[0]}, {crowded[1]})" if crowded else "a router"
    return [
        Overflow(
            "colors", where, used, free, used - free, "colors", (),
            ("use a larger machine, on which fewer routes cross (knob machine)",),
        )
    ]  # fmt: skip
