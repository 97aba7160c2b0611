"""Join experts: a mixture that fetches its experts' weights for each token becomes one operation.

Exporters write a mixture as look-ups: TopK says which experts a token takes, GatherND copies their
matrices, batched products apply them. On a mesh the tokens should travel, not the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import GatherND
from engine.kernels.moe.spec import Moe
from engine.kernels.move.spec import Expand, Reshape, Slice
from engine.kernels.pointwise.functions import Array
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Reduce, Softmax, TopK
from engine.kernels.spec import Operation
from lowering.graph import Graph, Value
from lowering.passes.rewrite import is_constant, producers, without_dead

_Op = TypeVar("_Op", bound=Operation)


@dataclass(frozen=True, slots=True)
class JoinExperts:
    """Rewrites gated experts (SiLU) whose gate and up lie in one stack, chosen by a softmax."""

    kind: str = "MixtureOfExperts"
    """what the joined node is called"""

    def run(self, graph: Graph) -> Graph:
        """Return the graph with one operation for each mixture; weights without numbers too."""
        if not any(isinstance(node.op, TopK) for node in graph.nodes):
            return graph
        reader = _Reader(graph)
        found = {}
        for node in graph.nodes:
            mixture = reader.mixture(node.op)
            if mixture is not None:
                found[node.name] = mixture
        return _joined(graph, found, self.kind) if found else graph


class _Mixture(NamedTuple):
    """What a mixture is made of, by value name."""

    x: str
    """tokens (T, H)"""
    router: str
    """(H, E)"""
    gate_up: str
    """gate over up, (E, 2 I, H)"""
    down: str
    """(E, H, I)"""
    active: int
    normalize: bool
    """a token's weights are divided by their sum"""


class _Stop(Exception):
    """The graph is no mixture of this form."""


class _Reader:
    """Walks backwards from a sum to the tokens and the stacks of weights."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._made = producers(graph)

    def mixture(self, op: Operation) -> _Mixture | None:
        """Return the mixture whose results `op` sums, None where it does not."""
        if not isinstance(op, Reduce) or op.fn != "sum" or op.axes != (1,) or op.keepdims:
            return None
        try:
            return self._sum(op)
        except _Stop:
            return None

    def _sum(self, op: Reduce) -> _Mixture:
        tokens, active, width = self._sides(op.inputs[0], 3)
        weighted = self._maker(op.inputs[0], Map, "mul")
        product, weights = self._ordered(weighted, lambda n: isinstance(self._behind(n), Dot))
        down = self._maker(product, Dot)
        chosen, normalize = self._weights(weights)
        stack, hidden = self._fetched(down, chosen)
        gate_up, x = self._gated(hidden, chosen)
        scores = self._maker(chosen.inputs[0], Softmax)
        router = self._maker(scores.inputs[0], Dot)
        last = len(self._shape(scores.inputs[0])) - 1
        experts, doubled, _ = self._sides(gate_up, 3)
        fits = (
            chosen.k == active and chosen.largest and chosen.axis == last == scores.axis == 1
            and not (scores.log or scores.causal)
            and self._source(router.inputs[0]) == x
            and self._shape(router.inputs[0]) == (tokens, width)
            and self._shape(router.inputs[1]) == (width, experts)
            and self._shape(gate_up) == (experts, doubled, width)
            and self._shape(stack) == (experts, width, doubled // 2)
            and self._shape(weights) == (tokens * active, 1)
            and self._shape(product) == (tokens * active, width)
        )  # fmt: skip
        if not fits or not is_constant(self._graph, router.inputs[1]):
            raise _Stop
        return _Mixture(router.inputs[0], router.inputs[1], gate_up, stack, active, normalize)

    def _weights(self, name: str) -> tuple[TopK, bool]:
        """Return what chooses the experts, and whether weights are divided by their sum."""
        op = self._behind(name)
        source, normalize = self._source(name), False
        if isinstance(op, Map) and op.fn == "div":
            total = self._maker(op.inputs[1], Reduce)
            source, normalize = op.inputs[0], True
            whole = total.fn == "sum" and total.axes == (1,) and total.keepdims
            if not whole or total.inputs[0] != source:
                raise _Stop
        chosen = self._maker(source, TopK)
        if chosen.outputs[0] != source:
            raise _Stop
        return chosen, normalize

    def _fetched(self, product: Dot, chosen: TopK) -> tuple[str, str]:
        """Return the stack whose matrices are applied, and to what."""
        fetch = self._made.get(product.inputs[0])
        op = fetch.op if fetch else None
        if not isinstance(op, GatherND) or op.batch_dims or self._shape(op.inputs[1])[1:] != (1,):
            raise _Stop
        if self._source(op.inputs[1]) != chosen.outputs[1]:
            raise _Stop
        column = self._shape(product.outputs[0])[2:] == (1,)
        if not column or not is_constant(self._graph, op.inputs[0]):
            raise _Stop
        return op.inputs[0], product.inputs[1]

    def _gated(self, hidden: str, chosen: TopK) -> tuple[str, str]:
        """Return the stack of gate over up and the tokens of `silu(x @ gate) * (x @ up)`."""
        joined = self._maker(hidden, Map, "mul")
        activated, raised = self._ordered(joined, lambda name: self._silu(name) is not None)
        gate = self._silu(activated) or ""
        first, second = self._maker(gate, Slice), self._maker(raised, Slice)
        rows, doubled = self._sides(first.inputs[0], 2)
        half, whole = doubled // 2, (0, rows, 1)
        halves = ((whole, (0, half, 1)), (whole, (half, doubled, 1)))
        if (first.ranges, second.ranges) != halves or first.inputs != second.inputs:
            raise _Stop
        stack, repeated = self._fetched(self._maker(first.inputs[0], Dot), chosen)
        spread = self._maker(repeated, Expand)
        tokens, active, width = self._sides(spread.outputs[0], 3)
        if self._shape(spread.inputs[0]) != (tokens, 1, width) or tokens * active != rows:
            raise _Stop
        return stack, self._source(spread.inputs[0])

    def _silu(self, name: str) -> str | None:
        """Return g of g * sigmoid(g), None for anything else."""
        op = self._behind(name)
        if isinstance(op, Map) and op.fn == "silu":
            return op.inputs[0]
        if not isinstance(op, Map) or op.fn != "mul":
            return None
        for gate, passed in (op.inputs, op.inputs[::-1]):
            other = self._behind(passed)
            if isinstance(other, Map) and other.fn == "sigmoid" and other.inputs[0] == gate:
                return gate
        return None

    def _ordered(self, op: Map, is_first: Callable[[str], bool]) -> tuple[str, str]:
        """Return both operands of a product, the one that `is_first` knows first."""
        one, other = op.inputs
        if is_first(one):
            return one, other
        if is_first(other):
            return other, one
        raise _Stop

    def _source(self, name: str) -> str:
        """Return the value behind reshapes, which keep the order of elements."""
        while (node := self._made.get(name)) is not None and isinstance(node.op, Reshape):
            name = node.op.inputs[0]
        return name

    def _behind(self, name: str) -> Operation | None:
        node = self._made.get(self._source(name))
        return node.op if node else None

    def _maker(self, name: str, kind: type[_Op], fn: str = "") -> _Op:
        op = self._behind(name)
        if not isinstance(op, kind) or (fn and getattr(op, "fn", "") != fn):
            raise _Stop
        return op

    def _shape(self, name: str) -> tuple[int, ...]:
        return self._graph.values[name].shape

    def _sides(self, name: str, rank: int) -> tuple[int, ...]:
        if len(self._shape(name)) != rank:
            raise _Stop
        return self._shape(name)


def _joined(graph: Graph, found: Mapping[str, _Mixture], kind: str) -> Graph:
    values, constants, unknown = dict(graph.values), dict(graph.constants), set(graph.unknown)
    nodes = []
    for node in graph.nodes:
        mixture = found.get(node.name)
        if mixture is None:
            nodes.append(node)
            continue
        stacks = []
        for value, array in _stacks(graph, mixture):
            values[value.name] = value
            stacks.append(value.name)
            if array is None:
                unknown.add(value.name)
            else:
                array.flags.writeable = False
                constants[value.name] = array
        op = Moe(inputs=(mixture.x, mixture.router, *stacks), outputs=node.op.outputs,
                 active=mixture.active, normalize=mixture.normalize)  # fmt: skip
        nodes.append(replace(node, op=op, kind=kind, name=f"{node.name}/experts"))
    return without_dead(
        replace(graph, nodes=tuple(nodes), values=values, constants=constants,
                unknown=frozenset(unknown))
    )  # fmt: skip


def _stacks(graph: Graph, mixture: _Mixture) -> Iterator[tuple[Value, Array | None]]:
    """Yield gate (E, H, I), up (E, H, I) and down (E, I, H)."""
    half = graph.values[mixture.gate_up].shape[1] // 2
    parts = (("gate", mixture.gate_up, slice(0, half)), ("up", mixture.gate_up, slice(half, None)),
             ("down", mixture.down, slice(None)))  # fmt: skip
    for what, name, rows in parts:
        value, array = graph.values[name], graph.constants.get(name)
        experts, length, width = value.shape
        length = len(range(length)[rows])
        turned = None if array is None else np.ascontiguousarray(array[:, rows].transpose(0, 2, 1))
        yield Value(f"{name} as {what}", (experts, width, length), value.dtype), turned
