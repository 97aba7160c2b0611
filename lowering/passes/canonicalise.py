"""Canonicalise: take out what moves nothing and changes no number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.move.spec import Expand, Pad, Reshape, Slice, Transpose
from engine.kernels.pointwise.spec import Map
from lowering.graph import Graph, Node
from lowering.passes.rewrite import bypassed, producers, without_dead

_NEUTRAL = {"add": 0.0, "sub": 0.0, "mul": 1.0, "div": 1.0, "pow": 1.0}
_COMMUTES = ("add", "mul")


@dataclass(frozen=True, slots=True)
class Canonicalise:
    """Removes double transposes, reshapes to the same shape, x * 1, x + 0, copies, dead nodes."""

    max_rounds: int = 8
    """rounds of looking again after a change"""

    def run(self, graph: Graph) -> Graph:
        """Return the graph with nothing left to take out, outputs under their own names."""
        for _ in range(self.max_rounds):
            after = _drop_neutral(_join_moves(without_dead(graph)))
            if len(after.nodes) == len(graph.nodes):
                return after
            graph = after
        return graph


def _join_moves(graph: Graph) -> Graph:
    """Let a transpose of a transpose, or a reshape of a reshape, read the first one's input."""
    made = producers(graph)
    nodes = []
    for node in graph.nodes:
        joined = _joined(node, made)
        nodes.append(joined)
        made.update((name, joined) for name in joined.op.outputs)
    return without_dead(replace(graph, nodes=tuple(nodes)))


def _joined(node: Node, made: dict[str, Node]) -> Node:
    first = made.get(node.op.inputs[0])
    if first is None:
        return node
    before, after = first.op, node.op
    origin = tuple(dict.fromkeys(first.origin + node.origin))
    if isinstance(before, Transpose) and isinstance(after, Transpose):
        perm = tuple(before.perm[axis] for axis in after.perm)
        return replace(node, op=replace(after, inputs=before.inputs, perm=perm), origin=origin)
    if isinstance(before, Reshape) and isinstance(after, Reshape):
        return replace(node, op=replace(after, inputs=before.inputs), origin=origin)
    return node


def _drop_neutral(graph: Graph) -> Graph:
    dropped = {}
    for node in graph.nodes:
        value = _unchanged(graph, node)
        if value is not None:
            dropped[node.op.outputs[0]] = value
    return bypassed(graph, dropped) if dropped else graph


def _unchanged(graph: Graph, node: Node) -> str | None:
    """Return the input that the node gives back as it is, None if it does something."""
    op = node.op
    value = graph.values[op.inputs[0]]
    match op:
        case Transpose(perm=perm):
            idle = perm == tuple(range(len(perm)))
        case Reshape(shape=shape) | Expand(shape=shape):
            idle = shape == value.shape
        case Slice(ranges=ranges):
            idle = all(step == 1 for _, _, step in ranges)
            idle = idle and graph.values[op.outputs[0]].shape == value.shape
        case Pad(pads=pads):
            idle = not any(map(any, pads))
        case Map(fn="identity"):
            idle = True
        case Map(fn="cast", dtype=dtype):
            idle = dtype == value.dtype
        case Map():
            return _neutral(graph, op)
        case _:
            idle = False
    return op.inputs[0] if idle else None


def _neutral(graph: Graph, op: Map) -> str | None:
    if op.fn not in _NEUTRAL or len(op.inputs) != 2:
        return None
    pairs = [op.inputs] + ([op.inputs[::-1]] if op.fn in _COMMUTES else [])
    for value, other in pairs:
        constant = graph.constants.get(other)
        result = graph.values[op.outputs[0]]
        if (
            constant is not None
            and graph.values[value].shape == result.shape
            and graph.values[value].dtype == result.dtype
            and bool(np.all(constant == _NEUTRAL[op.fn]))
        ):
            return value
    return None
