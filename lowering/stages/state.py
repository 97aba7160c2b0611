"""Training state where weights stream in: it comes as weights and leaves through their ports, or
stays outside with the optimizer.

Weights, moments and step counts that a training step replaces are inputs and outputs of its graph;
kernels that take turns get them through the weight ports, each before its own turn. With the
optimizer outside gradients leave instead, and state never comes. Knows drafts and transfers, no
time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from engine.kernels.cost import kernel_model
from engine.machine import DTYPE_BYTES
from engine.program import HOST, Transfer
from lowering.amounts import amount
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.passes.fuse import KernelDraft
from lowering.passes.order import early_updates
from lowering.passes.phases import trained_state
from lowering.stages.plan import KernelPlan


def plan_turns(graph: Graph, plan: KernelPlan, config: CompileConfig) -> KernelPlan:
    """Return the plan in the order of turns, with training state among the weights.

    With `optimizer = host` its kernels are outside.
    """
    state, _ = trained_state(graph)
    drafts = tuple(_with_state(draft, state) for draft in early_updates(plan.drafts))
    outside: tuple[KernelDraft, ...] = ()
    if config.optimizer == "host":
        outside = tuple(draft for draft in drafts if draft.phase == "optimizer")
        drafts = tuple(draft for draft in drafts if draft.phase != "optimizer")
    shapes = {name: value.shape for name, value in graph.values.items()}
    changed = {
        draft.name: kernel_model(draft.spec, shapes, frozenset(draft.weights), config.accumulate)
        for draft in drafts
        if state.intersection(draft.weights)
    }
    notes = (*plan.notes, *_outside_note(graph, outside, drafts, config))
    models = {**plan.models, **changed}
    return replace(
        plan, drafts=drafts, models=models, outside=(*plan.outside, *outside), notes=notes
    )


def gradients(plan: KernelPlan) -> frozenset[str]:
    """Return what the wafer makes for the work outside."""
    made = {name for draft in plan.drafts for name in draft.writes}
    return frozenset(made.intersection(n for draft in plan.outside for n in draft.reads))


def _outside_note(
    graph: Graph,
    outside: Sequence[KernelDraft],
    drafts: Sequence[KernelDraft],
    config: CompileConfig,
) -> tuple[str, ...]:
    if not outside:
        return ()
    made = {name for draft in drafts for name in draft.writes}
    size = DTYPE_BYTES[config.storage]

    def held(names: Collection[str]) -> str:
        return amount(sum(graph.values[name].elements for name in names) * size)

    sent = made.intersection(n for draft in outside for n in draft.reads)
    kept = {n for draft in outside for n in (*draft.reads, *draft.weights)} - made
    return (
        f"optimizer host: {len(outside)} kernels run outside; a sample sends {held(sent)} of "
        f"gradients through the weight ports, {held(kept)} of weights and state stay outside",
    )


def _with_state(draft: KernelDraft, state: Collection[str]) -> KernelDraft:
    arriving = tuple(name for name in draft.reads if name in state)
    if not arriving:
        return draft
    kept = tuple(name for name in draft.reads if name not in state)
    return replace(draft, reads=kept, weights=(*draft.weights, *arriving))


def leaving_state(
    transfers: Sequence[Transfer], leaving: Collection[str], order: Sequence[str], prefetch: int
) -> tuple[Transfer, ...]:
    """Return the transfers with those of `leaving` tensors to the host on the weight ports.

    Each must have left when the kernel `prefetch` + 1 turns after the next starts.
    """
    place = {name: turn for turn, name in enumerate(order)}
    found = []
    for transfer in transfers:
        if transfer.consumers == (HOST,) and transfer.tensor in leaving:
            last = place[transfer.producer] + 2 + prefetch
            until = order[last] if last < len(order) else ""
            transfer = replace(transfer, port="weights", until=until)
        found.append(transfer)
    return tuple(found)
