"""A whole graph's values on the host in float64: the oracle beside the mesh.

Knows no regions, no tiles and no order of sums; what the mesh computes is compared with this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.kernels.evaluate import evaluate
from engine.kernels.gather.spec import Gather, GatherND
from engine.kernels.loss.spec import CrossEntropy, CrossEntropyGrad
from engine.kernels.pointwise.functions import Array
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import Operation
from lowering.graph import Graph
from lowering.passes.phases import optimizer_inputs

_EXAMPLE_RANGE = 2
"""integers that index nothing are drawn as 0 or 1, as in masks and segment ids"""


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _widened(op: Operation) -> Operation:
    """Return a cast to a narrow float as one to float64, so the oracle never rounds."""
    if isinstance(op, Map) and op.fn == "cast" and np.dtype(op.dtype).kind == "f":
        return replace(op, dtype="float64")
    return op


def reference(
    graph: Graph, inputs: Mapping[str, Array], wanted: Collection[str] = ()
) -> dict[str, Array]:
    """Return the outputs by name, floats computed in float64, integers as they are.

    `wanted` names further values to return. Other values are dropped after their last reader.
    Raises ValueError for an input that is missing or of another shape, and for a model whose
    weights have no numbers.
    """
    _check(graph, inputs)
    readers = Counter(name for node in graph.nodes for name in node.op.inputs)
    kept = (*graph.outputs, *wanted)
    readers.update(kept)
    held = {name: _wide(np.asarray(inputs[name])) for name in graph.inputs}
    for node in graph.nodes:
        read = [
            held[name] if name in held else _wide(graph.constants[name]) for name in node.op.inputs
        ]
        held.update(zip(node.op.outputs, evaluate(_widened(node.op), read), strict=True))
        for name in node.op.inputs:
            readers[name] -= 1
            if readers[name] == 0:
                held.pop(name, None)
    return {name: held[name] if name in held else _wide(graph.constants[name]) for name in kept}


def follow(operations: Sequence[Operation], known: Mapping[str, Array]) -> dict[str, Array]:
    """Return what operations, in order, make of known values, floats computed in float64.

    Those that read what is not known are left out.
    """
    held = {name: _wide(array) for name, array in known.items()}
    made: dict[str, Array] = {}
    for op in operations:
        if all(name in held for name in op.inputs):
            found = evaluate(_widened(op), [held[name] for name in op.inputs])
            made.update(zip(op.outputs, found, strict=True))
            held.update(made)
    return made


def _check(graph: Graph, inputs: Mapping[str, Array]) -> None:
    if graph.unknown:
        raise ValueError(
            f"model '{graph.name}' has {len(graph.unknown)} weights without numbers "
            f"(such as '{min(graph.unknown)}'); it can be timed, not evaluated"
        )
    for name in graph.inputs:
        if name not in inputs:
            raise ValueError(f"input '{name}' of model '{graph.name}' is missing")
        shape, want = np.shape(inputs[name]), graph.values[name].shape
        if shape != want:
            raise ValueError(f"input '{name}' has shape {shape}; model '{graph.name}' takes {want}")


def default_inputs(graph: Graph, seed: int = 0) -> dict[str, Array]:
    """Return seeded example inputs: normal floats, indices that exist, flags that are set.

    An integer input that a Gather reads, directly or through moves and casts, is drawn below the
    length of the axis it indexes. One that is only ever cast to bool, as a mask
    is, gets ones. An optimizer's moments and step counts are positive, as after some steps.
    """
    rng = np.random.default_rng(seed)
    limits = _limits(graph)
    positive = optimizer_inputs(graph)
    made: dict[str, Array] = {}
    for name in graph.inputs:
        value = graph.values[name]
        dtype = np.dtype(value.dtype)
        if dtype.kind == "f" and name in positive:
            made[name] = (0.1 + rng.random(value.shape)).astype(dtype)
        elif dtype.kind == "f":
            made[name] = rng.standard_normal(value.shape).astype(dtype)
        elif dtype.kind == "b" or _is_flag(graph, name):
            made[name] = np.ones(value.shape, dtype)
        else:
            high = limits.get(name, _EXAMPLE_RANGE)
            made[name] = rng.integers(0, high, value.shape).astype(dtype)
    return made


def _limits(graph: Graph) -> dict[str, int]:
    """Return, for values used as indices, the length of the shortest axis they index."""
    limits: dict[str, int] = {}

    def lower(name: str, limit: int) -> None:
        limits[name] = min(limits.get(name, limit), limit)

    for node in reversed(graph.nodes):
        op = node.op
        if isinstance(op, Gather):
            lower(op.inputs[1], graph.values[op.inputs[0]].shape[op.axis])
        elif isinstance(op, GatherND):
            data, indices = (graph.values[name].shape for name in op.inputs)
            lower(op.inputs[1], min(data[op.batch_dims : op.batch_dims + indices[-1]]))
        elif isinstance(op, CrossEntropy | CrossEntropyGrad):
            lower(op.inputs[1], graph.values[op.inputs[0]].shape[-1])
        indexed = [limits[name] for name in op.outputs if name in limits]
        if indexed:
            whole = [name for name in op.inputs if graph.values[name].dtype.startswith("int")]
            for name in whole[:1] if isinstance(op, Gather | GatherND) else whole:
                lower(name, min(indexed))
    return limits


def _is_flag(graph: Graph, name: str) -> bool:
    readers = [node.op for node in graph.nodes if name in node.op.inputs]
    return bool(readers) and all(
        isinstance(op, Map) and op.fn == "cast" and op.dtype == "bool" for op in readers
    )
