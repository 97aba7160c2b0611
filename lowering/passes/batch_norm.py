"""Fold batch normalisation: a factor for each channel moves into the convolution's weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.conv.spec import Conv
from engine.kernels.pointwise.functions import Array
from engine.kernels.pointwise.spec import Map
from lowering.graph import Graph, Node, Value
from lowering.passes.rewrite import absorbed, is_constant, producers, readers


@dataclass(frozen=True, slots=True)
class FoldBatchNorm:
    """Rewrites conv(x, w) [+ b] times a constant per channel as conv(x, w'), b' = b times it."""

    fold_bias: bool = True
    """also where a constant bias is added between the two"""

    def run(self, graph: Graph) -> Graph:
        """Return the graph with the factors gone; weights without numbers stay without."""
        if not any(isinstance(node.op, Conv) for node in graph.nodes):
            return graph
        for node in graph.nodes:
            if isinstance(node.op, Map) and node.op.fn == "mul":
                graph = self._fold(graph, node)
        return graph

    def _fold(self, graph: Graph, node: Node) -> Graph:
        found = self._match(graph, node)
        if found is None:
            return graph
        conv, bias, factor = found
        kernels = graph.values[conv.op.inputs[1]].shape[0]
        editor = _Editor(graph)
        shape = (kernels, *(1,) * (len(graph.values[conv.op.inputs[1]].shape) - 1))
        editor.scale(conv, 1, factor, shape, node)
        if bias is not None:
            shape = graph.values[bias.op.inputs[1]].shape
            editor.scale(bias, 1, factor, shape, node)
        return absorbed(editor.graph(), node)

    def _match(self, graph: Graph, node: Node) -> tuple[Node, Node | None, str] | None:
        """Return (convolution, addition between, factor) where the rewrite holds."""
        value, factor = node.op.inputs
        if not is_constant(graph, factor):
            return None
        made, read = producers(graph), readers(graph)
        first = made.get(value)
        bias = None
        if self.fold_bias and first is not None and _is_constant_add(graph, first):
            bias, first = first, made.get(first.op.inputs[0])
        if first is None or not isinstance(first.op, Conv):
            return None
        conv, weights = first, first.op.inputs[1]
        alone = [conv.op.outputs[0]] + ([bias.op.outputs[0]] if bias else [])
        if any(read[name] != 1 for name in alone) or not is_constant(graph, weights):
            return None
        if not _per_channel(graph, factor, conv) or (
            bias and not _per_channel(graph, bias.op.inputs[1], conv)
        ):
            return None
        return conv, bias, factor


def _is_constant_add(graph: Graph, node: Node) -> bool:
    op = node.op
    return isinstance(op, Map) and op.fn == "add" and is_constant(graph, op.inputs[1])


def _per_channel(graph: Graph, name: str, conv: Node) -> bool:
    """Return whether the constant has one number a channel of the convolution's result."""
    result = graph.values[conv.op.outputs[0]].shape
    shape = graph.values[name].shape
    wanted = (result[1], *(1,) * (len(result) - 2))
    return shape in (wanted, (1, *wanted))


class _Editor:
    """Collects changed constants and nodes of one rewrite."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._values = dict(graph.values)
        self._constants: dict[str, Array] = dict(graph.constants)
        self._unknown = set(graph.unknown)
        self._nodes: dict[str, Node] = {}

    def scale(
        self, node: Node, place: int, factor: str, shape: tuple[int, ...], cause: Node
    ) -> None:
        """Let `node` read its constant times `factor`, the factor seen in `shape`."""
        name = node.op.inputs[place]
        old = self._graph.values[name]
        new = f"{name}*{factor}"
        self._values[new] = Value(new, old.shape, old.dtype)
        known = self._graph.constants
        if name in known and factor in known:
            product = known[name] * known[factor].reshape(shape)
            array = np.asarray(product, dtype=old.dtype).reshape(old.shape)
            array.flags.writeable = False
            self._constants[new] = array
        else:
            self._unknown.add(new)
        inputs = (*node.op.inputs[:place], new, *node.op.inputs[place + 1 :])
        origin = tuple(dict.fromkeys(node.origin + cause.origin))
        self._nodes[node.name] = replace(node, op=replace(node.op, inputs=inputs), origin=origin)

    def graph(self) -> Graph:
        """Return the changed graph."""
        return replace(
            self._graph,
            nodes=tuple(self._nodes.get(node.name, node) for node in self._graph.nodes),
            values=self._values,
            constants=self._constants,
            unknown=frozenset(self._unknown),
        )
