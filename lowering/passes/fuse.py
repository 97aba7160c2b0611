"""Fuse a graph into kernel drafts: every light node joins the kernel that feeds it last.

Products, convolutions, pooling windows, table look-ups and reductions over positions start a
kernel; views, pointwise chains, biases, activations and normalisations follow their latest
producer. Joining the latest keeps the kernels acyclic: all other inputs come from earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from engine.kernels.conv.spec import Conv
from engine.kernels.dequantize.spec import Dequantize
from engine.kernels.dot.spec import Dot
from engine.kernels.embedding.spec import RowSum
from engine.kernels.gather.spec import Gather, GatherElements, GatherND, Scatter, ScatterND
from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.moe.spec import Moe
from engine.kernels.move.spec import Concat, Expand, Pad, Reshape, Slice, Transpose
from engine.kernels.optimizer.spec import AdamW
from engine.kernels.pointwise.spec import Map
from engine.kernels.recurrent.spec import Recurrent
from engine.kernels.reduce.spec import CumSum, Normalize, Reduce, Softmax, TopK
from engine.kernels.spec import KernelSpec, Operation
from engine.kernels.window.spec import Window
from lowering.graph import Graph, Node
from lowering.passes.integers import kept_integers
from lowering.passes.phases import training_phases
from lowering.passes.rewrite import readers

FAMILIES: tuple[tuple[type[Operation], str], ...] = (
    (Dot, "dot"),
    (Conv, "conv"),
    (Window, "window"),
    (Gather, "gather"),
    (GatherND, "gather"),
    (GatherElements, "gather"),
    (Scatter, "gather"),
    (ScatterND, "gather"),
    (Recurrent, "recurrent"),
    (TopK, "reduce"),
    (CumSum, "reduce"),
    (RowSum, "embedding"),
    (Moe, "moe"),
    (AdamW, "optimizer"),
    (CrossEntropy, "loss"),
    (CrossEntropyGrad, "loss"),
    (Reduce, "reduce"),
    (Softmax, "reduce"),
    (Normalize, "reduce"),
    (Map, "pointwise"),
    (Operation, "move"),
)
FUSABLE = ("bias", "activation", "normalisation", "views")
"""classes of operations that can join the kernel that feeds them"""
_ELEMENTWISE = (Map, Reshape, Expand, Transpose)
_GROWTH = 64
"""elementwise work on so many times the elements leaves a kernel of scalars (our assumption)"""
_VIEWS = (Reshape, Transpose, Slice, Expand, Concat, Pad)


@dataclass(frozen=True, slots=True)
class KernelDraft:
    """A kernel before it has a place: what it computes and which tensors cross its border."""

    name: str
    family: str
    kind: str
    """the main source operator's type"""
    spec: KernelSpec
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    weights: tuple[str, ...]
    origin: tuple[str, ...]
    phase: str = ""
    """part of a training step, empty for a graph that does not train"""


@dataclass(slots=True)
class _Group:
    nodes: list[Node] = field(default_factory=list)
    main: int = 0
    phase: str = ""


def family_of(op: Operation) -> str:
    """Return the kernel family of an operation."""
    return next(name for kind, name in FAMILIES if isinstance(op, kind))


def class_of(op: Operation, graph: Graph) -> str:
    """Return which of `FUSABLE` an operation is when it starts no kernel by itself."""
    if isinstance(op, Map):
        constant = any(name in graph.constants or name in graph.unknown for name in op.inputs)
        return "bias" if op.fn == "add" and constant else "activation"
    return "normalisation" if isinstance(op, Reduce | Softmax | Normalize) else "views"


def fuse(graph: Graph, joining: tuple[str, ...] = FUSABLE) -> tuple[KernelDraft, ...]:
    """Return the kernels of a graph in an order that computes; only `joining` classes join."""
    groups: list[_Group] = []
    owner: dict[str, int] = {}
    updates: dict[str, list[int]] = {}
    graph, floats = _apart(graph)
    phases = training_phases(graph)
    for nodes in _bundles(graph) if phases else ([node] for node in graph.nodes):
        phase = phases.get(nodes[-1].op.outputs[0], "")
        feeding = [owner[name] for node in nodes for name in node.op.inputs if name in owner]
        index = max(feeding, default=-1)
        joins = index >= 0 and class_of(nodes[-1].op, graph) in joining
        if not joins or _parts(nodes[-1], graph, groups[index], phase):
            update = None
            if phase == "optimizer":
                update = _same_update(nodes, graph, groups, updates, index)
            index = len(groups) if update is None else update
            if update is None:
                groups.append(_Group(phase=phase))
        before = [floats[name] for node in nodes for name in node.op.inputs if name in floats]
        groups[index].nodes.extend([*before, *nodes])
        owner.update((name, index) for node in nodes for name in node.op.outputs)
        if groups[index].phase == "optimizer":
            for name in (name for node in (*before, *nodes) for name in node.op.inputs):
                updates.setdefault(name, []).append(index)
    for group in groups:
        group.main = _main(group.nodes, graph) if group.phase else _first(group.nodes)
    reading = _reading_groups(groups, graph.outputs)
    return tuple(_draft(graph, groups, reading, index) for index in range(len(groups)))


def _same_update(
    nodes: list[Node],
    graph: Graph,
    groups: list[_Group],
    updates: Mapping[str, list[int]],
    latest: int,
) -> int | None:
    """Return the last optimizer kernel that reads the same gradient, None if there is none yet.

    `updates` are the optimizer kernels that read each value. It must not be older than what feeds
    the nodes, which keeps the kernels acyclic.
    """
    size = _size(nodes[-1], graph)
    read = {name for node in nodes for name in node.op.inputs}
    shared = (name for name in read if graph.values[name].elements == size)
    reading = {index for name in shared for index in updates.get(name, ()) if index > latest}
    alike = (index for index in reading if _size(groups[index].nodes[-1], graph) == size)
    return max(alike, default=None)


def _step_scalars(graph: Graph) -> list[Node]:
    """Return the elementwise nodes on single numbers that depend on inputs only."""
    ready, found = {*graph.inputs, *graph.constants, *graph.unknown}, []
    for node in graph.nodes:
        single = _size(node, graph) == 1 and isinstance(node.op, Map)
        if single and ready.issuperset(node.op.inputs):
            ready.update(node.op.outputs)
            found.append(node)
    return found


def _bundles(graph: Graph) -> Iterator[list[Node]]:
    """Yield the nodes in order; elementwise work on inputs waits for the elementwise node it feeds.

    An optimizer's terms of old state (a moment times its decay) thus join the update they are
    part of and take no kernel of their own. Single numbers made from inputs alone (a step count's
    bias corrections) come first, so that whole updates can follow them.
    """
    scalars = _step_scalars(graph)
    early = {node.op.outputs[0] for node in scalars}
    yield from ([node] for node in scalars)
    read, outputs = readers(graph), frozenset(graph.outputs)
    ready = {*graph.inputs, *graph.constants, *graph.unknown}
    waiting: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.op.outputs[0] in early:
            continue
        held = [name for name in dict.fromkeys(node.op.inputs) if name in waiting]
        name = node.op.outputs[0]
        if not isinstance(node.op, Map):
            for each in held:
                yield waiting.pop(each)
            yield [node]
            continue
        nodes = [*(one for each in held for one in waiting.pop(each)), node]
        made = {each.op.outputs[0] for each in nodes}
        old = all(each in ready or each in made for one in nodes for each in one.op.inputs)
        if old and read[name] == 1 and name not in outputs:
            waiting[name] = nodes
        else:
            yield nodes


def _parts(node: Node, graph: Graph, feeding: _Group, phase: str) -> bool:
    """Return whether a node starts a kernel of its own beside the one that feeds it last."""
    if phase != feeding.phase or _starts_kernel(node, graph, feeding):
        return True
    if not phase or not isinstance(node.op, Map | Scatter | ScatterND):
        return False
    return _size(node, graph) > _GROWTH * max(_size(each, graph) for each in feeding.nodes)


def _apart(graph: Graph) -> tuple[Graph, dict[str, Node]]:
    """Return the graph without the weights made of integers, and those by name.

    They belong to the product that reads them, which always starts a kernel.
    """
    kept = kept_integers(graph)
    floats = {n.op.outputs[0]: n for n in graph.nodes if kept.intersection(n.op.outputs)}
    nodes = tuple(node for node in graph.nodes if kept.isdisjoint(node.op.outputs))
    return (replace(graph, nodes=nodes) if floats else graph), floats


def _first(nodes: list[Node]) -> int:
    """Return the first node that is more than a weight made of integers."""
    weights = (isinstance(node.op, Dequantize) for node in nodes)
    return next((index for index, weight in enumerate(weights) if not weight), 0)


def _main(nodes: list[Node], graph: Graph) -> int:
    """Return which node shapes a kernel: the first, or of elementwise work the largest."""
    first = _first(nodes)
    if not isinstance(nodes[first].op, _ELEMENTWISE):
        return first
    sizes = [_size(n, graph) if isinstance(n.op, _ELEMENTWISE) else 0 for n in nodes]
    return sizes.index(max(sizes))


def _size(node: Node, graph: Graph) -> int:
    return graph.values[node.op.outputs[0]].elements


def _starts_kernel(node: Node, graph: Graph, feeding: _Group) -> bool:
    op = node.op
    if isinstance(op, Dot | Conv | Window | Recurrent | Moe | RowSum):
        return True
    if isinstance(op, Gather):
        return op.axis == 0 and op.inputs[0] not in {n for g in feeding.nodes for n in g.op.outputs}
    if isinstance(op, GatherND):
        return op.inputs[0] not in {n for g in feeding.nodes for n in g.op.outputs}
    if isinstance(op, Reduce):
        last = len(graph.values[op.inputs[0]].shape) - 1
        return op.axes != (last,) or isinstance(feeding.nodes[feeding.main].op, Conv | Window)
    return False


def _reading_groups(groups: list[_Group], outputs: Iterable[str]) -> dict[str, set[int]]:
    """Return the groups that read each value; -1 stands for the reader of the graph's outputs."""
    found: dict[str, set[int]] = {name: {-1} for name in outputs}
    for index, group in enumerate(groups):
        for node in group.nodes:
            for name in node.op.inputs:
                found.setdefault(name, set()).add(index)
    return found


def _draft(
    graph: Graph, groups: list[_Group], readers: dict[str, set[int]], index: int
) -> KernelDraft:
    nodes = groups[index].nodes
    first = _first(nodes)
    main = nodes[groups[index].main]
    inside = {name for node in nodes for name in node.op.outputs}
    used = dict.fromkeys(name for node in nodes for name in node.op.inputs if name not in inside)
    resident = {n for n in used if n in graph.constants or n in graph.unknown}
    leaving = [n for n in _made(nodes) if readers.get(n, set()) - {index}]
    return KernelDraft(
        name=main.name,
        family=family_of(main.op),
        kind=main.kind,
        spec=KernelSpec(tuple(node.op for node in nodes), groups[index].main),
        reads=tuple(n for n in used if n not in resident),
        writes=tuple(leaving),
        weights=tuple(n for n in used if n in resident),
        origin=tuple(
            dict.fromkeys(n for node in (*nodes[first:], *nodes[:first]) for n in node.origin)
        ),
        phase=groups[index].phase,
    )


def _made(nodes: list[Node]) -> list[str]:
    return [name for node in nodes for name in node.op.outputs]
