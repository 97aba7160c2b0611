"""Wide sums for models whose outputs are rounding and nothing else.

The light models of the suite have one number in all their weights, so their 1,000 logits are equal
and huge; softmax then shows how each column of the mesh rounded its sum. With products summed in
64 bits and rounded to 32 once, the columns agree. The casts are part of the placed program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import onnx

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.pointwise.spec import Map
from lowering.graph import Graph, Node, Value

MOST_WEIGHTS = 100_000_000
"""a larger product is left as it is, for the memory of a test run twice as wide: how it rounds
does not show in the logits, where every column sums the same inputs again"""
_UNIFORM_NODES = 4
"""weights made by ConstantOfShape that mark such a model"""


def is_uniform(model: onnx.ModelProto) -> bool:
    """Return whether the model's weights are one number each, repeated."""
    made = [node for node in model.graph.node if node.op_type == "ConstantOfShape"]
    return len(made) >= _UNIFORM_NODES


def wide_sums(graph: Graph) -> Graph:
    """Return the graph with its products of float32 computed in float64 between two casts."""
    values, constants = dict(graph.values), dict(graph.constants)
    nodes: list[Node] = []
    for node in graph.nodes:
        name = node.op.outputs[0]
        if values[name].dtype != "float32" or not _can_widen(node, constants):
            nodes.append(node)
            continue
        inputs = []
        for each in node.op.inputs:
            wide = f"{each}/wide"
            inputs.append(wide)
            if wide in values:
                continue
            values[wide] = Value(wide, values[each].shape, "float64")
            if each in constants:
                constants[wide] = constants[each].astype(np.float64)
            else:
                nodes.append(_cast(each, wide, "float64", node))
        total = f"{name}/wide sum"
        values[total] = Value(total, values[name].shape, "float64")
        op = replace(node.op, inputs=tuple(inputs), outputs=(total,))
        nodes += [replace(node, op=op), _cast(total, name, "float32", node)]
    return replace(graph, nodes=tuple(nodes), values=values, constants=constants)


def _can_widen(node: Node, constants: Mapping[str, np.ndarray]) -> bool:
    weights = [constants[each].size for each in node.op.inputs if each in constants]
    return isinstance(node.op, Dot | Conv) and max(weights, default=0) <= MOST_WEIGHTS


def _cast(source: str, target: str, dtype: str, node: Node) -> Node:
    op = Map(inputs=(source,), outputs=(target,), fn="cast", dtype=dtype)
    return Node(target, op, "Cast", node.origin)
