"""A pen for transformers: short words for operations, weights by path, one name a value.

A value is called as the node that makes it, such as `layers/3/attn/q`. Knows no layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Concat, Reshape, Slice, Transpose
from engine.kernels.pointwise.functions import Array
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Normalize
from engine.kernels.spec import Operation
from lowering.frontends.builder import GraphBuilder
from lowering.graph import Node

DTYPE = "float32"
"""of every float value; what the mesh stores is a knob"""


class WeightSource(Protocol):
    """Where the numbers of weights come from."""

    def array(self, path: str, shape: tuple[int, ...]) -> Array | None:
        """Return the weight at `path` as float32 of `shape`, None where there are no numbers."""
        ...


class NoNumbers:
    """Weights of known shape without numbers."""

    def array(self, path: str, shape: tuple[int, ...]) -> Array | None:
        """Return None: a config file has no numbers."""
        return None


class Writer:
    """Adds operations to a builder under readable names."""

    def __init__(self, builder: GraphBuilder, weights: WeightSource) -> None:
        self.builder = builder
        self._weights = weights
        self.trained: list[str] = []
        """weights by value name, in the order of their first use"""
        self.derived: list[Node] = []
        """operations on constants, which the builder computed or forgot"""
        self.kind: str | None = None
        """kind of every node from now on, None: each its own"""

    def weight(self, path: str, *shape: int, trained: bool = True) -> str:
        """Return the weight at `path`, declared on first use.

        One that is not `trained` by the loss counts as no parameter and has no gradient.
        """
        if path in self.builder.values:
            return path
        array = self._weights.array(path, shape)
        sources = (path,) if trained else ()
        self.trained.extend(sources)
        if array is None:
            return self.builder.add_unknown(path, shape, DTYPE, sources)
        return self.builder.add_constant(path, array, sources)

    def constant(self, name: str, array: Array) -> str:
        """Return a constant that is no parameter, declared on first use."""
        if name not in self.builder.values:
            self.builder.add_constant(name, array)
        return name

    def number(self, value: float) -> str:
        """Return a constant of rank 0."""
        return self.constant(f"number {value!r}", np.asarray(value, DTYPE))

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a value."""
        return self.builder.values[name].shape

    def emit(self, op: type[Operation], name: str, kind: str, *inputs: str, **fields: Any) -> str:
        """Add an operation whose result is called `name`."""
        made = op(inputs=inputs, outputs=(name,), **fields)
        kind = self.kind or kind
        if all(self.builder.is_constant(each) for each in inputs):
            self.derived.append(Node(name, made, kind, (name,)))
        return self.builder.emit(made, kind, name, name)

    def emit_several(
        self,
        op: type[Operation],
        kind: str,
        inputs: Sequence[str],
        outputs: Mapping[str, tuple[int, ...]],
        **fields: Any,
    ) -> tuple[str, ...]:
        """Add an operation with several results of the shapes given, called by their names."""
        names = tuple(outputs)
        made = op(inputs=tuple(inputs), outputs=names, **fields)
        for name, shape in outputs.items():
            self.builder.add_value(name, shape, DTYPE)
        self.builder.nodes.append(Node(names[0], made, self.kind or kind, (names[0],)))
        return names

    def map(self, fn: str, name: str, *inputs: str, params: Sequence[float] = ()) -> str:
        """Add an elementwise function."""
        return self.emit(Map, name, _KINDS.get(fn, fn), *inputs, fn=fn, params=tuple(params))

    def capped(self, name: str, x: str, cap: float) -> str:
        """Return cap * tanh(x / cap), x itself where the cap is 0."""
        if not cap:
            return x
        small = self.map("mul", f"{name}/small", x, self.number(1 / cap))
        turned = self.map("tanh", f"{name}/tanh", small)
        return self.map("mul", name, turned, self.number(cap))

    def add(self, name: str, a: str, b: str) -> str:
        """Add two values."""
        return self.map("add", name, a, b)

    def matmul(self, name: str, a: str, b: str, kind: str = "MatMul") -> str:
        """Multiply with numpy's rules."""
        return self.emit(Dot, name, kind, a, b)

    def linear(self, name: str, x: str, results: int, *, bias: bool = False) -> str:
        """Multiply by the weight of `name` (features, results), plus its bias."""
        weight = self.weight(f"{name}/weight", self.shape(x)[-1], results)
        product = self.matmul(name, x, weight, "Linear")
        if not bias:
            return product
        return self.add(f"{name}/biased", product, self.weight(f"{name}/bias", results))

    def reshape(self, name: str, x: str, *shape: int) -> str:
        """Give the elements another shape; nothing is added where it has it already."""
        if self.shape(x) == shape:
            return x
        return self.emit(Reshape, name, "Reshape", x, shape=shape)

    def transpose(self, name: str, x: str, *perm: int) -> str:
        """Permute the axes; of numbers at hand this is a view, however many there are."""
        if x not in self.builder.constants:
            return self.emit(Transpose, name, "Transpose", x, perm=perm)
        made = Transpose(inputs=(x,), outputs=(name,), perm=perm)
        self.derived.append(Node(name, made, self.kind or "Transpose", (name,)))
        view = self.builder.constants[x].transpose(perm)
        return self.builder.add_constant(name, view, self.builder.sources([x]))

    def concat(self, name: str, parts: Sequence[str], axis: int) -> str:
        """Join along an axis counted from the front."""
        return self.emit(Concat, name, "Concat", *parts, axis=axis)

    def cut(self, name: str, x: str, axis: int, start: int, stop: int) -> str:
        """Take [start, stop) of one axis, which may count from the end."""
        shape = self.shape(x)
        ranges: list[tuple[int, int | None, int]] = [(0, side, 1) for side in shape]
        ranges[axis] = (start, stop, 1)
        return self.emit(Slice, name, "Slice", x, ranges=tuple(ranges))

    def norm(self, name: str, x: str, habit: str, epsilon: float) -> str:
        """Normalise the last axis as `habit` says: rms | rms-plus-one | layer | layer-no-bias."""
        width = self.shape(x)[-1]
        scale = self.weight(f"{name}/weight", width)
        if habit == "rms-plus-one":
            scale = self.add(f"{name}/scale", scale, self.number(1.0))
        operands = [x, scale]
        if habit == "layer":
            operands.append(self.weight(f"{name}/bias", width))
        center = habit.startswith("layer")
        kind = "LayerNorm" if center else "RMSNorm"
        axes = (len(self.shape(x)) - 1,)
        return self.emit(
            Normalize, name, kind, *operands, axes=axes, epsilon=epsilon, center=center
        )


_KINDS = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "neg": "Neg", "silu": "SiLU",
    "gelu": "GELU", "gelu_tanh": "GELU", "relu": "ReLU", "tanh": "Tanh",
}  # fmt: skip
