"""Builds a Graph operation by operation: shapes at once, constants folded, provenance kept.

Shared by the front ends. Knows the engine's operations; no model formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from engine.kernels.dequantize.spec import Dequantize
from engine.kernels.evaluate import evaluate
from engine.kernels.pointwise.functions import Array
from engine.kernels.pointwise.spec import Map
from engine.kernels.spec import Operation
from lowering.errors import ModelImportError
from lowering.frontends.shapes import infer
from lowering.graph import Graph, Node, Value

MAX_ELEMENTS = 2**40
"""elements of one value; more is a corrupt shape, not a model (our assumption)"""
MAX_FOLDED_BYTES = 2**28
"""a constant result above this is computed at run time, not at import (our assumption)"""


class GraphBuilder:
    """Collects values, constants and nodes in running order."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.constants: dict[str, Array] = {}
        self.unknown: set[str] = set()
        self.nodes: list[Node] = []
        self.weights: frozenset[str] = frozenset()
        """results that only products read, as weights"""
        self._sources: dict[str, frozenset[str]] = {}
        self._alias: dict[str, str] = {}

    def resolve(self, name: str) -> str:
        """Return the value that `name` stands for."""
        return self._alias.get(name, name)

    def alias(self, name: str, value: str) -> None:
        """Let `name` stand for `value`."""
        self._alias[name] = self.resolve(value)

    def value(self, name: str) -> Value:
        """Return the value that `name` stands for."""
        return self.values[self.resolve(name)]

    def is_constant(self, name: str) -> bool:
        """Return whether `name` depends on no input."""
        name = self.resolve(name)
        return name in self.constants or name in self.unknown

    def add_value(self, name: str, shape: Sequence[int], dtype: str) -> Value:
        """Declare a computed value or an input."""
        value = Value(name, tuple(int(side) for side in shape), dtype)
        if value.elements > MAX_ELEMENTS:
            raise ModelImportError(
                f"value '{name}' of shape {value.shape} has over 2**40 elements, more than any "
                "model's; look at the model's sizes and at the batch and lengths asked for"
            )
        self.values[name] = value
        return value

    def add_constant(
        self, name: str, array: Array, sources: Iterable[str] = (), *, numbers: bool = True
    ) -> str:
        """Declare a constant; without `numbers` only its shape and dtype are kept."""
        self.values[name] = Value(name, array.shape, array.dtype.name)
        self._sources[name] = frozenset(sources)
        if not numbers:
            return self.add_unknown(name, array.shape, array.dtype.name, sources)
        view = array.view()
        view.flags.writeable = False
        self.constants[name] = view
        return name

    def add_unknown(
        self, name: str, shape: Sequence[int], dtype: str, sources: Iterable[str] = ()
    ) -> str:
        """Declare a constant without numbers."""
        self.add_value(name, shape, dtype)
        self._sources[name] = frozenset(sources)
        self.unknown.add(name)
        return name

    def fresh(self, stem: str) -> str:
        """Return `stem`, numbered if it is taken."""
        name, count = stem, 1
        while name in self.values or name in self._alias:
            name, count = f"{stem}.{count}", count + 1
        return name

    def emit(self, op: Operation, kind: str, origin: str, name: str) -> str:
        """Add an operation and return its first output's name.

        An operation on constants only becomes constants, without numbers if one has none; weights
        made of integers stay operations. Results of no elements are constants too: nothing of
        them depends on the inputs.
        """
        made = infer(op, [self.values[each] for each in op.inputs])
        if all(prod(shape) == 0 for shape, _ in made):
            for output, (shape, dtype) in zip(op.outputs, made, strict=True):
                self.add_constant(output, np.empty(shape, dtype))
            return op.outputs[0]
        fixed = all(self.is_constant(each) for each in op.inputs)
        if fixed and not isinstance(op, Dequantize) and self._fold(op, made):
            return op.outputs[0]
        for output, (shape, dtype) in zip(op.outputs, made, strict=True):
            self.add_value(output, shape, dtype)
        self.nodes.append(Node(name, op, kind, (origin,)))
        return op.outputs[0]

    def _fold(self, op: Operation, made: Sequence[tuple[tuple[int, ...], str]]) -> bool:
        sources = frozenset[str]().union(*(self._sources[each] for each in op.inputs))
        if any(each in self.unknown for each in op.inputs):
            for output, (shape, dtype) in zip(op.outputs, made, strict=True):
                self.add_unknown(output, shape, dtype, sources)
            return True
        if sum(prod(s) * np.dtype(d).itemsize for s, d in made) > MAX_FOLDED_BYTES:
            return False
        arrays = evaluate(op, [self.constants[each] for each in op.inputs])
        for output, array, (_, dtype) in zip(op.outputs, arrays, made, strict=True):
            self.add_constant(output, np.asarray(array, dtype=dtype), sources)
        return True

    def origins(self, name: str) -> set[str]:
        """Return the values that no node makes and `name` is computed from."""
        makers = {output: node for node in self.nodes for output in node.op.outputs}
        found, open_names, seen = set[str](), [self.resolve(name)], set[str]()
        while open_names:
            each = open_names.pop()
            if each in seen:
                continue
            seen.add(each)
            if each in makers:
                open_names.extend(makers[each].op.inputs)
            elif not self.is_constant(each):
                found.add(each)
        return found

    def finish(
        self, name: str, inputs: Sequence[str], outputs: Sequence[str], source_hash: str = ""
    ) -> Graph:
        """Return the graph of what the outputs need; `outputs` keep their names."""
        return _Finisher(self, outputs).graph(name, inputs, source_hash)

    def sources(self, names: Iterable[str]) -> set[str]:
        """Return the declared tensors that the constants `names` were made from."""
        found: set[str] = set()
        for each in names:
            found |= self._sources.get(each, frozenset())
        return found


class _Finisher:
    """Gives outputs their own names and drops what none of them needs."""

    def __init__(self, builder: GraphBuilder, outputs: Sequence[str]) -> None:
        self._builder = builder
        self._outputs = tuple(outputs)

    def _restore_output_names(self) -> None:
        """Copy an aliased result under the output's name: one value, one name, no surprises."""
        builder = self._builder
        for output in self._outputs:
            source = builder.resolve(output)
            if source != output:
                builder._alias.pop(output)
                op = Map(inputs=(source,), outputs=(output,), fn="identity")
                builder.emit(op, "Identity", output, builder.fresh(f"{output}/copy"))

    def graph(self, name: str, inputs: Sequence[str], source_hash: str) -> Graph:
        """Return the frozen result."""
        self._restore_output_names()
        builder = self._builder
        needed, kept = set(self._outputs), list[Node]()
        for node in reversed(builder.nodes):
            if needed.intersection(node.op.outputs):
                needed.update(node.op.inputs)
                kept.append(node)
        kept.reverse()
        needed.update(inputs)
        needed.update(*(node.op.outputs for node in kept))
        values: dict[str, Any] = {k: v for k, v in builder.values.items() if k in needed}
        return Graph(
            name=name,
            inputs=tuple(inputs),
            outputs=self._outputs,
            nodes=tuple(kept),
            values=values,
            constants={k: v for k, v in builder.constants.items() if k in needed},
            unknown=frozenset(builder.unknown & needed),
            source_hash=source_hash,
            parameters=self._parameters(needed, [node.op for node in kept]),
        )

    def _parameters(self, needed: Iterable[str], ops: Iterable[Operation]) -> int:
        stored = [op.inputs for op in ops if isinstance(op, Dequantize)]
        integers = self._builder.sources(names[0] for names in stored)
        beside = self._builder.sources(name for names in stored for name in names[1:])
        return sum(
            value.elements
            for each in self._builder.sources(needed) - (beside - integers)
            if (value := self._builder.values[each]).shape
            and (value.dtype.startswith("float") or each in integers)
        )
