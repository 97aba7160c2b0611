"""Fuse a graph into kernel drafts: every light node joins the kernel that feeds it last.

Products, convolutions, pooling windows, table look-ups and reductions over positions start a
kernel; views, pointwise chains, biases, activations and normalisations follow their latest
producer. Joining the latest keeps the kernels acyclic: all other inputs come from earlier ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.embedding.spec import RowSum
from engine.kernels.gather.spec import Gather, GatherND
from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.moe.spec import Moe
from engine.kernels.move.spec import Concat, Expand, Pad, Reshape, Slice, Transpose
from engine.kernels.optimizer.spec import AdamW
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import KernelSpec, Operation
from engine.kernels.window.spec import Window
from lowering.graph import Graph, Node

FAMILIES: tuple[tuple[type[Operation], str], ...] = (
    (Dot, "dot"),
    (Conv, "conv"),
    (Window, "window"),
    (Gather, "gather"),
    (GatherND, "gather"),
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


@dataclass(slots=True)
class _Group:
    nodes: list[Node] = field(default_factory=list)
    main: int = 0


def family_of(op: Operation) -> str:
    """Return the kernel family of an operation."""
    return next(name for kind, name in FAMILIES if isinstance(op, kind))


def fuse(graph: Graph) -> tuple[KernelDraft, ...]:
    """Return the kernels of a graph in an order that computes."""
    groups: list[_Group] = []
    owner: dict[str, int] = {}
    for node in graph.nodes:
        feeding = [owner[name] for name in node.op.inputs if name in owner]
        if feeding and not _starts_kernel(node, graph, groups[max(feeding)]):
            index = max(feeding)
        else:
            index = len(groups)
            groups.append(_Group())
        group = groups[index]
        group.nodes.append(node)
        owner.update(dict.fromkeys(node.op.outputs, index))
    reading = _reading_groups(groups)
    return tuple(_draft(graph, groups, reading, index) for index in range(len(groups)))


def _starts_kernel(node: Node, graph: Graph, feeding: _Group) -> bool:
    op = node.op
    if isinstance(op, Dot | Conv | Window | Moe | RowSum):
        return True
    if isinstance(op, Gather):
        return op.axis == 0 and op.inputs[0] not in {n for g in feeding.nodes for n in g.op.outputs}
    if isinstance(op, Reduce):
        last = len(graph.values[op.inputs[0]].shape) - 1
        return op.axes != (last,) or isinstance(feeding.nodes[feeding.main].op, Conv | Window)
    return False


def _reading_groups(groups: list[_Group]) -> dict[str, set[int]]:
    """Return the groups that read each value."""
    found: dict[str, set[int]] = {}
    for index, group in enumerate(groups):
        for node in group.nodes:
            for name in node.op.inputs:
                found.setdefault(name, set()).add(index)
    return found


def _draft(
    graph: Graph, groups: list[_Group], reading: dict[str, set[int]], index: int
) -> KernelDraft:
    nodes = groups[index].nodes
    main = nodes[groups[index].main]
    inside = {name for node in nodes for name in node.op.outputs}
    used = dict.fromkeys(name for node in nodes for name in node.op.inputs if name not in inside)
    resident = {n for n in used if n in graph.constants or n in graph.unknown}
    leaving = [n for n in _made(nodes) if reading.get(n, set()) - {index} or n in graph.outputs]
    return KernelDraft(
        name=main.name,
        family=family_of(main.op),
        kind=main.kind,
        spec=KernelSpec(tuple(node.op for node in nodes), groups[index].main),
        reads=tuple(n for n in used if n not in resident),
        writes=tuple(leaving),
        weights=tuple(n for n in used if n in resident),
        origin=tuple(dict.fromkeys(name for node in nodes for name in node.origin)),
    )


def _made(nodes: list[Node]) -> list[str]:
    return [name for node in nodes for name in node.op.outputs]
