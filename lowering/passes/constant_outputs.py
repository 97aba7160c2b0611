"""Outputs that no node computes: a kernel holds them and sends them out like any other."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.kernels.pointwise.spec import Map
from lowering.graph import Graph, Node


@dataclass(frozen=True, slots=True)
class HoldConstantOutputs:
    """Gives each constant output a copy of its own, so that the mesh gives all outputs."""

    suffix: str = "/held"
    """appended to the output's name for the constant that the copy reads"""

    def run(self, graph: Graph) -> Graph:
        """Return the graph with a copy behind every constant output."""
        fixed = [n for n in graph.outputs if n in graph.constants or n in graph.unknown]
        if not fixed:
            return graph
        values, constants = dict(graph.values), dict(graph.constants)
        unknown, nodes = set(graph.unknown), list(graph.nodes)
        for name in dict.fromkeys(fixed):
            held = name + self.suffix
            values[held] = replace(values[name], name=held)
            if name in constants:
                constants[held] = constants.pop(name)
            else:
                unknown.remove(name)
                unknown.add(held)
            names = {name: held}
            nodes = [_reading(node, names) for node in nodes]
            copy = Map(inputs=(held,), outputs=(name,), fn="identity")
            nodes.append(Node(name, copy, "Constant", (name,)))
        return replace(
            graph,
            nodes=tuple(nodes),
            values=values,
            constants=constants,
            unknown=frozenset(unknown),
        )


def _reading(node: Node, names: dict[str, str]) -> Node:
    inputs = tuple(names.get(each, each) for each in node.op.inputs)
    return node if inputs == node.op.inputs else replace(node, op=replace(node.op, inputs=inputs))
