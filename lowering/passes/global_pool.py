"""Global pooling: a mean window over the whole map is a reduction, which rows can share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.kernels.reduce.spec import Reduce
from engine.kernels.spec import Operation
from engine.kernels.window.spec import Window
from lowering.graph import Graph

_REDUCTIONS = {"mean": "mean", "max": "max"}


@dataclass(frozen=True, slots=True)
class GlobalPool:
    """Rewrites a window that covers all of its input, without pads, as a reduction of its axes."""

    def run(self, graph: Graph) -> Graph:
        """Return the graph with global windows as reductions."""
        nodes = tuple(
            replace(node, op=_as_reduction(node.op, graph)) if isinstance(node.op, Window) else node
            for node in graph.nodes
        )
        return replace(graph, nodes=nodes)


def _as_reduction(op: Window, graph: Graph) -> Operation:
    spatial = graph.values[op.inputs[0]].shape[2:]
    result = graph.values[op.outputs[0]].shape[2:]
    whole = op.kernel == spatial and not any(side for pads in op.pads for side in pads)
    if not whole or any(side != 1 for side in result) or any(op.extra):
        return op
    axes = tuple(range(2, 2 + len(spatial)))
    return Reduce(inputs=op.inputs, outputs=op.outputs, fn=_REDUCTIONS[op.fn], axes=axes)
