"""Gradient accumulation: a training step of several micro-batches and one update.

Forward and backward work is there once a micro-batch; what the updates read of it is averaged, and
so is the loss. Inputs that are no state get a leading axis, one entry a micro-batch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.kernels.move.spec import Reshape, Slice
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import Operation
from lowering.graph import Graph, Node, Value
from lowering.passes.phases import trained_state, training_phases
from lowering.passes.rewrite import renamed


class _Writer:
    """The nodes and values of the new graph as they are made."""

    def __init__(self, graph: Graph) -> None:
        self.nodes: list[Node] = []
        self.values = dict(graph.values)
        self.constants = dict(graph.constants)

    def emit(self, op: Operation, like: Value, kind: str, origin: tuple[str, ...]) -> str:
        """Add a node whose only result is like a known value; return the result's name."""
        name = op.outputs[0]
        self.values[name] = replace(like, name=name)
        self.nodes.append(Node(name, op, kind, origin))
        return name

    def divide(self, name: str, total: str, count: int, origin: tuple[str, ...]) -> None:
        """Make `name` the total over the count."""
        like = self.values[name]
        share = f"1/{count} {like.dtype}"
        self.constants[share] = np.array(1 / count, like.dtype)
        self.values[share] = Value(share, (), like.dtype)
        self.emit(Map(inputs=(total, share), outputs=(name,), fn="mul"), like, "Mul", origin)


def micro_batched(graph: Graph, count: int) -> Graph:
    """Return a training step of `count` micro-batches; any other graph as it is."""
    phases = training_phases(graph)
    if count == 1 or not phases:
        return graph
    state, new = trained_state(graph)
    work = [node for node in graph.nodes if phases[node.op.outputs[0]] != "optimizer"]
    updates = [node for node in graph.nodes if phases[node.op.outputs[0]] == "optimizer"]
    data = [name for name in graph.inputs if name not in state]
    pen = _Writer(graph)
    for name in data:
        value = graph.values[name]
        pen.values[name] = replace(value, shape=(count, *value.shape))
    means = _averaged(graph, work, updates, new)
    sums = dict.fromkeys(means, "")
    for index in range(count):
        names = {name: f"{name}/mb{index}" for node in work for name in node.op.outputs}
        names |= {name: _cut(pen, graph.values[name], index) for name in data}
        for node in work:
            pen.nodes.append(replace(renamed(node, names), name=f"{node.name}/mb{index}"))
            for name in node.op.outputs:
                pen.values[names[name]] = replace(graph.values[name], name=names[name])
        for name, origin in means.items():
            sums[name] = _added(pen, name, sums[name], names[name], index, origin)
    for name, origin in means.items():
        pen.divide(name, sums[name], count, origin)
    return replace(graph, nodes=(*pen.nodes, *updates), values=pen.values, constants=pen.constants)


def _averaged(
    graph: Graph, work: list[Node], updates: list[Node], new: frozenset[str]
) -> dict[str, tuple[str, ...]]:
    """Return what is averaged over micro-batches, with the source nodes that make it."""
    read = {name for node in updates for name in node.op.inputs} | set(graph.outputs) | new
    return {
        name: node.origin for node in work for name in node.op.outputs
        if name in read and graph.values[name].dtype.startswith("float")
    }  # fmt: skip


def _cut(pen: _Writer, value: Value, index: int) -> str:
    """Return one micro-batch's part of an input."""
    whole = ((0, None, 1),) * len(value.shape)
    part, name = f"{value.name}/part{index}", f"{value.name}/mb{index}"
    cut = Slice(inputs=(value.name,), outputs=(part,), ranges=((index, index + 1, 1), *whole))
    pen.emit(cut, replace(value, shape=(1, *value.shape)), "Slice", ())
    return pen.emit(
        Reshape(inputs=(part,), outputs=(name,), shape=value.shape), value, "Reshape", ()
    )


def _added(
    pen: _Writer, name: str, total: str, part: str, index: int, origin: tuple[str, ...]
) -> str:
    """Return the sum of the parts so far."""
    if not total:
        return part
    op = Map(inputs=(total, part), outputs=(f"{name}/sum{index}",), fn="add")
    return pen.emit(op, pen.values[name], "Add", origin)
