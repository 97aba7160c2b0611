"""What an importer sees of one ONNX node: its inputs, its attributes, and a way to emit.

Importers raise ValueError with a sentence; the caller adds which node it was.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple, Protocol

import numpy as np
from onnx import GraphProto, NodeProto, helper

from engine.kernels.pointwise.functions import Array
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import Operation
from lowering.frontends.builder import GraphBuilder
from lowering.graph import Value


class NotStaticError(ValueError):
    """A shape, axis or index depends on the model's inputs, so nothing can be laid out."""

    def __init__(self, message: str, inputs: Set[str] = frozenset()) -> None:
        super().__init__(message)
        self.inputs = frozenset(inputs)
        """the model's inputs that it is computed from"""


class NotCoveredError(ValueError):
    """The operator is known, this use of it is not."""


class Source(NamedTuple):
    """The node of the model that a part was taken from."""

    op_type: str
    name: str


class Bodies(Protocol):
    """What imports the graphs inside a node."""

    def graph(
        self, ctx: NodeContext, graph: GraphProto, values: Sequence[str], prefix: str
    ) -> list[str]:
        """Import a graph whose inputs are `values` and return its outputs' values."""
        ...


class NodeContext:
    """One source node being imported."""

    def __init__(
        self,
        node: NodeProto,
        builder: GraphBuilder,
        read: Set[str],
        bodies: Bodies,
        *,
        shape_only: bool,
        source: Source | None = None,
    ) -> None:
        self.node = node
        self.bodies = bodies
        self.source = source
        self.builder = builder
        self.read = read
        self.shape_only = shape_only
        self.inputs = tuple(builder.resolve(name) if name else "" for name in node.input)
        self._attributes = {each.name: each for each in node.attribute}
        self._emitted = 0

    def has(self, index: int) -> bool:
        """Return whether the optional input is given."""
        return index < len(self.inputs) and self.inputs[index] != ""

    def input(self, index: int) -> str:
        """Return a value that must be given."""
        if not self.has(index):
            raise ValueError(f"input {index} is missing")
        return self.inputs[index]

    def value(self, index: int) -> Value:
        """Return shape and dtype of an input."""
        return self.builder.values[self.input(index)]

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a value."""
        return self.builder.values[name].shape

    def attr(self, name: str, default: Any = None) -> Any:
        """Return an attribute; strings as str, lists as lists."""
        if name not in self._attributes:
            return default
        found = helper.get_attribute_value(self._attributes[name])
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else found

    def constant(self, index: int, what: str) -> Array:
        """Return the numbers of an input that must not depend on the model's inputs."""
        name = self.input(index)
        if name not in self.builder.constants:
            asked = self.builder.origins(name)
            hint = f"; give '{min(asked)}' its value with run --inputs" if asked else ""
            raise NotStaticError(
                f"its {what} ('{name}') is computed from data or has no numbers{hint}",
                asked,
            )
        return self.builder.constants[name]

    def integers(self, index: int, what: str) -> list[int]:
        """Return a constant input as a list of integers."""
        return [int(each) for each in self.constant(index, what).reshape(-1)]

    def axis(self, axis: int, rank: int) -> int:
        """Return the axis counted from the front."""
        if not -rank <= axis < max(rank, 1):
            raise ValueError(f"axis {axis} does not exist in a tensor of rank {rank}")
        return axis % rank if rank else 0

    def axes(self, axes: Sequence[int], rank: int) -> tuple[int, ...]:
        """Return the axes counted from the front, in rising order."""
        return tuple(sorted({self.axis(int(axis), rank) for axis in axes}))

    def emit(
        self, op: type[Operation], *inputs: str, output: int | None = None, **fields: Any
    ) -> str:
        """Add an operation; `output` is the node's output it gives, None for an inner value."""
        target = self._target(0, output)
        return self._emit(op, inputs, (target,), fields)

    def emit_several(
        self, op: type[Operation], *inputs: str, outputs: Sequence[int | None], **fields: Any
    ) -> tuple[str, ...]:
        """Add an operation of several results; each goes to an output of the node or none."""
        targets = tuple(self._target(place, output) for place, output in enumerate(outputs))
        self._emit(op, inputs, targets, fields)
        return targets

    def _target(self, place: int, output: int | None) -> str:
        """Return the name of a result: the node's output where that is given and named."""
        if output is not None and output < len(self.node.output) and self.node.output[output]:
            return str(self.node.output[output])
        suffix = f".{place}" if place else ""
        return self.builder.fresh(f"{self.node.name}/{self._emitted}{suffix}")

    def _emit(
        self, op: type[Operation], inputs: Sequence[str], outputs: tuple[str, ...],
        fields: dict[str, Any],
    ) -> str:  # fmt: skip
        name = self.node.name
        if self._emitted:
            name = f"{name}/{op.__name__.lower()}{self._emitted}"
        self._emitted += 1
        made = op(inputs=tuple(inputs), outputs=outputs, **fields)
        kind, origin = self.source or Source(self.node.op_type, self.node.name)
        return self.builder.emit(made, kind, origin, name)

    def wants(self, index: int) -> bool:
        """Return whether the node's output is given and read."""
        outputs = self.node.output
        return index < len(outputs) and outputs[index] != "" and outputs[index] in self.read

    def map(self, fn: str, *inputs: str, output: int | None = None, **fields: Any) -> str:
        """Add an elementwise function."""
        return self.emit(Map, *inputs, output=output, fn=fn, **fields)

    def scalar(self, number: float, dtype: str) -> str:
        """Add a constant of rank 0."""
        name = self.builder.fresh(f"{self.node.name}/value")
        return self.builder.add_constant(name, np.asarray(number, dtype=dtype))

    def give(self, value: str, output: int = 0) -> None:
        """Let an output of the node be `value` itself."""
        self.builder.alias(self.node.output[output], value)

    def give_constant(self, array: Array, output: int = 0) -> None:
        """Let an output of the node be these numbers."""
        name = self.node.output[output]
        self.builder.add_constant(name, array, self.builder.sources(self.inputs))

    def only_output(self, what: str) -> None:
        """Refuse uses of the second and later outputs."""
        if not self.read.isdisjoint(self.node.output[1:]):
            raise NotCoveredError(f"its output {what} is used")
