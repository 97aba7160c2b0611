"""Phases of a training step, from its topology: forward, loss, backward, optimizer.

A graph is a training step when it gives a loss (one float) and new versions of its inputs by
elementwise work on them. Knows the graph; nothing of kernels or of frameworks' node names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather, GatherND
from engine.kernels.moe.spec import Moe
from engine.kernels.move.spec import Expand, Reshape
from engine.kernels.optimizer.spec import AdamW
from engine.kernels.pointwise.spec import Map
from engine.kernels.recurrent.spec import Recurrent
from lowering.graph import Graph, Node
from lowering.passes.rewrite import producers

PHASES = ("forward", "loss", "recompute", "backward", "optimizer")
"""in the order of their first kernels"""
_LAYERS = (Dot, Conv, Gather, GatherND, Recurrent, Moe)
_ELEMENTWISE = (Map, Reshape, Expand, AdamW)


def training_phases(graph: Graph) -> Mapping[str, str]:
    """Return the phase of each value that a node makes; empty where the graph does not train.

    What the loss needs is forward up to the last layer (product, convolution, look-up, cell) on
    the way, and loss after it. Elementwise work whose results only replace inputs is optimizer;
    all other work is backward. What is marked as done again is recompute.
    """
    made = producers(graph)
    loss = next((name for name in graph.outputs if _is_loss(graph, name)), None)
    if loss is None:
        return {}
    needed = _ancestors([loss], made)
    inputs = frozenset(graph.inputs)
    updates = [
        name for name in graph.outputs if name != loss and _updated(graph, name, made, inputs)
    ]
    if not updates:
        return {}
    layered = _before_layers(graph, needed)
    steps = _optimizer(graph, updates, needed, made)
    phases = {}
    for node in graph.nodes:
        name = node.op.outputs[0]
        if node.again:
            phase = "recompute"
        elif name in needed:
            phase = "forward" if name in layered else "loss"
        else:
            phase = "optimizer" if name in steps else "backward"
        phases.update(dict.fromkeys(node.op.outputs, phase))
    return phases


def trained_state(graph: Graph) -> tuple[frozenset[str], frozenset[str]]:
    """Return a training step's inputs that it replaces (weights, moments), and what replaces them.

    Both are empty for a graph that does not train.
    """
    if not training_phases(graph):
        return frozenset(), frozenset()
    made = producers(graph)
    loss = next(name for name in graph.outputs if _is_loss(graph, name))
    inputs = frozenset(graph.inputs)
    found = {name: _updated(graph, name, made, inputs) for name in graph.outputs if name != loss}
    new = frozenset(name for name, old in found.items() if old)
    return frozenset(old for name in new for old in found[name]), new


def optimizer_inputs(graph: Graph) -> frozenset[str]:
    """Return a training step's inputs that the loss does not need: moments and step counts."""
    if not training_phases(graph):
        return frozenset()
    made = producers(graph)
    loss = next(name for name in graph.outputs if _is_loss(graph, name))
    needed = _ancestors([loss], made)
    read = {name for each in needed for name in made[each].op.inputs}
    return frozenset(name for name in graph.inputs if name not in read)


def _is_loss(graph: Graph, name: str) -> bool:
    value = graph.values[name]
    return value.elements == 1 and value.dtype.startswith("float")


def _ancestors(names: Iterable[str], made: Mapping[str, Node]) -> set[str]:
    """Return the values that nodes make on the way to `names`, these included."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in made and name not in found:
            found.update(made[name].op.outputs)
            waiting.extend(made[name].op.inputs)
    return found


def _updated(
    graph: Graph, output: str, made: Mapping[str, Node], inputs: frozenset[str]
) -> frozenset[str]:
    """Return the inputs of an output's shape from which elementwise work leads to it."""
    shape, waiting, seen = graph.values[output].shape, [output], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or graph.values[name].shape != shape:
            continue
        seen.add(name)
        if name in made and isinstance(made[name].op, Map | AdamW):
            waiting.extend(made[name].op.inputs)
    return inputs.intersection(seen)


def _before_layers(graph: Graph, needed: set[str]) -> set[str]:
    """Return the values that a layer on the way to the loss makes or needs."""
    found = set[str]()
    for node in reversed(graph.nodes):
        outputs = set(node.op.outputs)
        if not outputs & needed:
            continue
        if isinstance(node.op, _LAYERS) or outputs & found:
            found |= outputs
            found.update(node.op.inputs)
    return found


def _optimizer(
    graph: Graph, updates: Iterable[str], needed: set[str], made: Mapping[str, Node]
) -> set[str]:
    """Return the values made by elementwise work that nothing but updates reads."""
    reached, waiting = set[str](), list(updates)
    while waiting:
        name = waiting.pop()
        node = made.get(name)
        if node is None or name in reached or name in needed:
            continue
        if isinstance(node.op, _ELEMENTWISE):
            reached.update(node.op.outputs)
            waiting.extend(node.op.inputs)
    elsewhere = {
        name
        for node in graph.nodes if node.op.outputs[0] not in reached
        for name in node.op.inputs
    }  # fmt: skip
    return reached - _ancestors(elsewhere & reached, made)
