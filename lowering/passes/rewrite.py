"""What the passes share: readers, and taking a node out without losing an output's name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from lowering.graph import Graph, Node

_Item = TypeVar("_Item")


def readers(graph: Graph) -> Counter[str]:
    """Return how often each value is read; being an output of the graph counts once."""
    count = Counter(name for node in graph.nodes for name in node.op.inputs)
    count.update(graph.outputs)
    return count


def producers(graph: Graph) -> dict[str, Node]:
    """Return the node that gives each computed value."""
    return {name: node for node in graph.nodes for name in node.op.outputs}


def is_constant(graph: Graph, name: str) -> bool:
    """Return whether a value depends on no input."""
    return name in graph.constants or name in graph.unknown


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """Return the node reading and writing the values that `names` puts in place of its own."""
    inputs = tuple(names.get(name, name) for name in node.op.inputs)
    outputs = tuple(names.get(name, name) for name in node.op.outputs)
    if inputs == node.op.inputs and outputs == node.op.outputs:
        return node
    return replace(node, op=replace(node.op, inputs=inputs, outputs=outputs))


def bypassed(graph: Graph, dropped: Mapping[str, str]) -> Graph:
    """Take nodes out: each key, a node's only output, is from now on the value beside it.

    Where the key is an output of the graph, the value takes its name instead; where that value is
    an input, a constant or an output itself, the node stays.
    """
    made = producers(graph)
    names: dict[str, str] = {}
    gone: set[str] = set()
    for output, value in dropped.items():
        source = value
        while source in names:
            source = names[source]
        if output not in graph.outputs:
            names[output] = source
        elif source in made and source not in graph.outputs:
            names[source] = output
        else:
            continue
        gone.add(output)
    flat = {name: _end(name, names) for name in names}
    nodes = tuple(renamed(node, flat) for node in graph.nodes if gone.isdisjoint(node.op.outputs))
    return without_dead(replace(graph, nodes=nodes))


def absorbed(graph: Graph, node: Node) -> Graph:
    """Take a node out whose work its producer now does: the producer's result takes its name.

    The producer's result must have no other reader. A value's name thus keeps its meaning, so
    what the mesh computes can be compared with the imported graph by name.
    """
    names = {node.op.inputs[0]: node.op.outputs[0]}
    nodes = tuple(renamed(other, names) for other in graph.nodes if other is not node)
    return without_dead(replace(graph, nodes=nodes))


def _end(name: str, names: Mapping[str, str]) -> str:
    while name in names:
        name = names[name]
    return name


def without_dead(graph: Graph) -> Graph:
    """Drop nodes and values that no output needs; the inputs stay."""
    needed = set(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if needed.intersection(node.op.outputs):
            needed.update(node.op.inputs)
            kept.append(node)
    needed.update(graph.inputs)
    needed.update(name for node in kept for name in node.op.outputs)
    return replace(
        graph,
        nodes=tuple(reversed(kept)),
        values=_only(graph.values, needed),
        constants=_only(graph.constants, needed),
        unknown=graph.unknown & needed,
    )


def _only(mapping: Mapping[str, _Item], names: Iterable[str]) -> dict[str, _Item]:
    wanted = set(names)
    return {name: item for name, item in mapping.items() if name in wanted}
