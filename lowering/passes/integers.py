"""Weights kept as integers: what the model quantised stays so, and what a user wants quantised."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from engine.kernels.conv.spec import Conv
from engine.kernels.dequantize.spec import Dequantize, Scales, matrix_scales
from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Transpose
from engine.kernels.pointwise.functions import Array
from lowering.graph import Graph, Node, Value
from lowering.passes.rewrite import is_constant, readers, without_dead

WEIGHT = 1
"""operand of a product or a convolution that a PE holds still"""


def kept_integers(graph: Graph) -> frozenset[str]:
    """Return the dequantised constants that only products read, as weights cut into tiles."""
    made = {node.op.outputs[0]: node.op for node in graph.nodes if isinstance(node.op, Dequantize)}
    if not made:
        return frozenset()
    held = dict.fromkeys(made, 0)
    for node in graph.nodes:
        name = _weight_of(node)
        if name in made and name not in node.op.inputs[:WEIGHT]:
            held[name] += _scales_of(graph, node, made[name]) is not None
    count = readers(graph)
    return frozenset(
        name for name, op in made.items()
        if held[name] == count[name] and all(is_constant(graph, each) for each in op.inputs)
    )  # fmt: skip


def _weight_of(node: Node) -> str | None:
    return node.op.inputs[WEIGHT] if isinstance(node.op, Dot | Conv) else None


def _scales_of(graph: Graph, node: Node, op: Dequantize) -> Scales | None:
    whole, scale = (graph.values[name].shape for name in op.inputs[:2])
    conv = isinstance(node.op, Conv)
    return matrix_scales(whole, scale, zeros=len(op.inputs) > 2, conv=conv)


@dataclass(frozen=True, slots=True)
class DequantizeLast:
    """Moves each dequantisation behind the transposes of its result, to the product it feeds.

    Every product gets one of its own: a PE makes the floats where it uses them.
    """

    def run(self, graph: Graph) -> Graph:
        """Return the graph with integers and scales transposed in place of floats."""
        if not any(isinstance(node.op, Dequantize) for node in graph.nodes):
            return graph
        mover = _Mover(graph)
        for node in graph.nodes:
            mover.add(node)
        return without_dead(mover.graph())


class _Edited:
    """A graph whose nodes are written anew, with more values and constants."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._values = dict(graph.values)
        self._constants: dict[str, Array] = dict(graph.constants)
        self._unknown = set(graph.unknown)
        self._nodes: list[Node] = []

    def _add_constant(self, value: Value, array: Array | None) -> None:
        """Add a constant, one without numbers where `array` is None."""
        self._values[value.name] = value
        if array is None:
            self._unknown.add(value.name)
        else:
            array.flags.writeable = False
            self._constants[value.name] = array

    def _read_floats_of(self, node: Node, weight: str, stored: tuple[str, ...]) -> None:
        """Add a node that reads its own floats of what is stored in place of `weight`."""
        op = node.op
        name = f"{weight} for {op.outputs[0]}"
        self._values[name] = replace(self._values[weight], name=name)
        floats = Dequantize(inputs=stored, outputs=(name,))
        inputs = (op.inputs[0], name, *op.inputs[WEIGHT + 1 :])
        self._nodes.append(Node(name, floats, "DequantizeLinear", node.origin))
        self._nodes.append(replace(node, op=replace(op, inputs=inputs)))

    def graph(self) -> Graph:
        """Return the changed graph."""
        return replace(
            self._graph, nodes=tuple(self._nodes), values=self._values,
            constants=self._constants, unknown=frozenset(self._unknown),
        )  # fmt: skip


class _Mover(_Edited):
    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._stored = {
            node.op.outputs[0]: node.op
            for node in graph.nodes
            if isinstance(node.op, Dequantize)
            and all(is_constant(graph, name) for name in node.op.inputs)
        }
        self._taken: set[str] = set()

    def add(self, node: Node) -> None:
        """Take a node over."""
        op, weight = node.op, _weight_of(node)
        if isinstance(op, Transpose) and op.inputs[0] in self._stored:
            self._nodes.append(self._transposed(node, op))
        elif weight in self._taken:
            self._read_floats_of(node, weight, self._stored[weight].inputs)
        else:
            self._nodes.append(node)
            if weight in self._stored:
                self._taken.add(weight)

    def _transposed(self, node: Node, op: Transpose) -> Node:
        """Return a dequantisation of what is stored, transposed."""
        turned = []
        for name in self._stored[op.inputs[0]].inputs:
            value, array = self._values[name], self._constants.get(name)
            shape = tuple(value.shape[axis] for axis in op.perm)
            turned.append(f"{name} as {op.outputs[0]}")
            self._add_constant(
                Value(turned[-1], shape, value.dtype),
                None if array is None else array.transpose(op.perm),
            )
        floats = Dequantize(inputs=tuple(turned), outputs=op.outputs)
        self._stored[op.outputs[0]] = floats
        return replace(node, op=floats, kind="DequantizeLinear")


@dataclass(frozen=True, slots=True)
class QuantizeWeights:
    """Keeps constant float weights of products as int8: symmetric, one scale a result."""

    largest: int = 127
    """integer that the largest weight of a result becomes"""

    def run(self, graph: Graph) -> Graph:
        """Return the graph whose products read dequantised weights; numbers change a little."""
        editor = _Quantizer(graph, self.largest)
        for node in graph.nodes:
            editor.add(node)
        return without_dead(editor.graph())


class _Quantizer(_Edited):
    def __init__(self, graph: Graph, largest: int) -> None:
        super().__init__(graph)
        self._largest = largest

    def add(self, node: Node) -> None:
        """Take a node over, its weights quantised where they can be."""
        weight = _weight_of(node)
        if weight is None or not self._can(node, weight):
            self._nodes.append(node)
        else:
            stored = self._quantized(weight, conv=isinstance(node.op, Conv))
            self._read_floats_of(node, weight, stored)

    def _can(self, node: Node, weight: str) -> bool:
        value = self._graph.values[weight]
        if not is_constant(self._graph, weight) or np.dtype(value.dtype).kind != "f":
            return False
        conv = isinstance(node.op, Conv)
        scale = _scale_shape(value.shape, conv=conv)
        array = self._constants.get(weight)
        return (
            value.elements > 0
            and matrix_scales(value.shape, scale, zeros=False, conv=conv) is not None
            and (array is None or bool(np.isfinite(array).all()))
        )

    def _quantized(self, weight: str, *, conv: bool) -> tuple[str, str]:
        """Return the names of a weight's integers and scales, made once."""
        value, array = self._graph.values[weight], self._graph.constants.get(weight)
        along = "kernel" if conv else "column"
        names = (f"{weight} as int8 by {along}", f"scale of {weight} by {along}")
        if names[0] not in self._values:
            shape = _scale_shape(value.shape, conv=conv)
            made = (None, None) if array is None else _quantized(array, shape, self._largest)
            self._add_constant(Value(names[0], value.shape, "int8"), made[0])
            self._add_constant(Value(names[1], shape, value.dtype), made[1])
        return names


def _scale_shape(shape: tuple[int, ...], *, conv: bool) -> tuple[int, ...]:
    """Return the shape of one scale a result: a column of a matrix, a kernel of a convolution."""
    if conv:
        return (shape[0], *(1,) * (len(shape) - 1))
    return (*(1,) * (len(shape) - 1), shape[-1])


def _quantized(array: Array, shape: tuple[int, ...], largest: int) -> tuple[Array, Array]:
    """Return (int8, scale): round(array / scale), a column of zeros with scale 1."""
    axes = tuple(axis for axis, side in enumerate(shape) if side == 1)
    most = np.abs(array).max(axis=axes, keepdims=True).reshape(shape)
    scale = np.where(most > 0, most / largest, 1).astype(array.dtype)
    integers = np.clip(np.round(array / scale), -largest, largest).astype(np.int8)
    return integers, scale
