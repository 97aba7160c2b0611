"""Fold: compute at import what depends on no input."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.evaluate import evaluate
from engine.kernels.pointwise.functions import Array
from lowering.graph import Graph
from lowering.passes.integers import kept_integers
from lowering.passes.rewrite import without_dead


@dataclass(frozen=True, slots=True)
class Fold:
    """Replaces nodes that read constants only by their results.

    Weights that products make of integers stay integers: a quarter of the bytes.
    """

    max_bytes: int = 2**28
    """results above this stay nodes, bytes"""

    def run(self, graph: Graph) -> Graph:
        """Return the graph with such nodes gone; a result of unknown weights is unknown."""
        constants: dict[str, Array] = dict(graph.constants)
        unknown, nodes, kept = set(graph.unknown), [], kept_integers(graph)
        for node in graph.nodes:
            op = node.op
            results = [graph.values[name] for name in op.outputs]
            size = sum(each.elements * np.dtype(each.dtype).itemsize for each in results)
            if op.outputs[0] in kept:
                nodes.append(node)
            elif any(name in unknown for name in op.inputs) and all(
                name in unknown or name in constants for name in op.inputs
            ):
                unknown.update(op.outputs)
            elif size <= self.max_bytes and all(name in constants for name in op.inputs):
                arrays = evaluate(op, [constants[name] for name in op.inputs])
                for value, array in zip(results, arrays, strict=True):
                    constants[value.name] = _frozen(array, value.dtype)
            else:
                nodes.append(node)
        return without_dead(
            replace(graph, nodes=tuple(nodes), constants=constants, unknown=frozenset(unknown))
        )


def _frozen(array: Array, dtype: str) -> Array:
    kept = np.asarray(array, dtype=dtype).view()
    kept.flags.writeable = False
    return kept
