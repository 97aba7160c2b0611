"""Cold data: embedding tables that stay on the host, from which only the rows asked for come.

A look-up by rows whose indices the host knows is taken out of the graph; its result becomes one
more thing that the host sends. Knows the graph; nothing of placement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.kernels.gather.spec import Gather
from engine.kernels.spec import KernelSpec
from engine.machine import DTYPE_BYTES
from lowering.graph import Graph, Node
from lowering.passes.fuse import KernelDraft
from lowering.passes.phases import trained_state
from lowering.passes.rewrite import producers, without_dead


@dataclass(frozen=True, slots=True, eq=False)
class Cold:
    """A graph whose look-ups are done outside."""

    graph: Graph
    """without them; their results are inputs"""
    outside: tuple[KernelDraft, ...]
    """the look-ups, each with what makes its indices"""

    def sentence(self, dtype: str) -> str:
        """Say what stays outside and what comes."""
        if not self.outside:
            return "embedding host: nothing changed; the host knows the indices of no look-up"
        size = DTYPE_BYTES[dtype]
        tables = {draft.spec.main_op.inputs[0] for draft in self.outside}
        rows = {name for draft in self.outside for name in draft.writes}
        held, sent = (
            sum(self.graph.values[name].elements for name in names) * size / 1e6
            for names in (tables, rows)
        )
        return (
            f"embedding host: {len(tables)} table(s) of {held:,.4g} MB stay outside, a sample "
            f"brings rows of {sent:,.4g} MB"
        )


def keep_tables_outside(graph: Graph) -> Cold:
    """Return the graph with every look-up of rows that the host can do taken out."""
    made, state = producers(graph), trained_state(graph)[0]
    tables = {*graph.constants, *graph.unknown, *state}
    drafts = [
        draft for node in graph.nodes
        if isinstance(node.op, Gather) and node.op.axis == 0 and node.op.inputs[0] in tables
        and (draft := _lookup(graph, node, made)) is not None
    ]  # fmt: skip
    rows = tuple(name for draft in drafts for name in draft.writes)
    if not rows or set(rows).intersection(graph.outputs):
        return Cold(graph, ())
    kept = tuple(node for node in graph.nodes if node.op.outputs[0] not in rows)
    fed = replace(graph, nodes=kept, inputs=(*graph.inputs, *rows))
    return Cold(replace(fed, nodes=without_dead(fed).nodes), tuple(drafts))


def _lookup(graph: Graph, node: Node, made: Mapping[str, Node]) -> KernelDraft | None:
    """Return the look-up with the work that makes its indices from inputs, None if it cannot."""
    needed, found = [node.op.inputs[1]], dict[str, Node]()
    while needed:
        name = needed.pop()
        if name not in made:
            continue
        if not graph.values[name].dtype.startswith(("int", "uint")):
            return None
        if name not in found:
            found[name] = made[name]
            needed.extend(made[name].op.inputs)
    before = [each for each in graph.nodes if each.op.outputs[0] in found]
    ops = tuple(each.op for each in (*before, node))
    inside = {name for op in ops for name in op.outputs}
    used = dict.fromkeys(name for op in ops for name in op.inputs if name not in inside)
    if not set(used).difference({node.op.inputs[0]}).intersection(graph.inputs):
        return None
    fixed = tuple(name for name in used if name in graph.constants or name in graph.unknown)
    return KernelDraft(
        name=node.name, family="gather", kind=node.kind, spec=KernelSpec(ops, len(ops) - 1),
        reads=tuple(name for name in used if name not in fixed), writes=node.op.outputs,
        weights=fixed, origin=node.origin,
    )  # fmt: skip
