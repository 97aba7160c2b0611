"""Tile loops: work along a batch axis that runs a part of it at a time, where all would not fit.

Attention makes a score for every pair of positions of every head. Where such a tensor is beyond a
limit, the nodes that make and read it run once for some of the heads after the other, and only what
leaves them is put together again. Knows the graph and bytes; no machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, gcd

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Concat, Reshape, Slice, Transpose
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Reduce, Softmax
from engine.kernels.spec import Operation
from lowering.graph import Graph, Node, Value

Shape = tuple[int, ...]
_WHOLE = -1
"""axis of an operand that every part reads whole"""


@dataclass(frozen=True, slots=True)
class Loop:
    """Nodes that run a part of an axis at a time."""

    nodes: tuple[Node, ...]
    axis: int
    parts: int


@dataclass(frozen=True, slots=True)
class Tiled:
    """A graph with its loops."""

    graph: Graph
    loops: tuple[Loop, ...]

    def sentence(self, limit: int) -> str:
        """Return what was cut and why."""
        parts = sorted({loop.parts for loop in self.loops})
        count = f"{parts[0]}" if len(parts) == 1 else f"{parts[0]} to {parts[-1]}"
        others = f" and {len(self.loops) - 1:,} like it" if len(self.loops) > 1 else ""
        first = self.loops[0].nodes[0].op.outputs[0]
        return (
            f"tile loops: the work on '{first}'{others} runs in {count} parts, one after the "
            f"other, along an axis such as heads: whole tensors would take over {limit:,} B each "
            "(knob tile_loops)"
        )


def tile_loops(graph: Graph, limit: int, width: int) -> Tiled:
    """Return the graph with loops around computed tensors of more than `limit` bytes.

    `width`: bytes of a stored element. A group of nodes stays whole where no axis does for all of
    them, or where what it makes is an output of the graph. Parts that are still too large are cut
    along another axis.
    """
    most = limit // width
    found: list[Loop] = []
    while True:
        taken = {*graph.inputs, *graph.outputs, *graph.constants, *graph.unknown}
        big = {v.name for v in graph.values.values() if v.elements > most and v.name not in taken}
        loops = [loop for nodes in _groups(graph, big) if (loop := _loop(graph, nodes, big, most))]
        if not loops:
            return Tiled(graph, tuple(found))
        found += loops
        graph = _Cutter(graph, loops).run()


def _groups(graph: Graph, big: set[str]) -> list[list[Node]]:
    """Return the nodes that make or read big tensors, joined where they share one, in order."""
    leader: dict[str, str] = {name: name for name in big}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    touching = []
    for node in graph.nodes:
        names = [n for n in (*node.op.inputs, *node.op.outputs) if n in big]
        if names:
            touching.append((node, names[0]))
            for name in names[1:]:
                leader[find(name)] = find(names[0])
    found: dict[str, list[Node]] = {}
    for node, name in touching:
        found.setdefault(find(name), []).append(node)
    return list(found.values())


def _loop(graph: Graph, nodes: Sequence[Node], big: set[str], most: int) -> Loop | None:
    shapes = {n: graph.values[n].shape for node in nodes for n in _touched(node)}
    inside = [n for node in nodes for n in node.op.outputs if n in big]
    if not inside:
        return None
    largest = max(inside, key=lambda name: graph.values[name].elements)
    wanted = ceil(graph.values[largest].elements / most)
    for axis in range(len(shapes[largest]) - 1):
        common = _common_length(nodes, axis, shapes)
        if common > 1:
            enough = (n for n in range(wanted, common) if common % n == 0)
            return Loop(tuple(nodes), axis, next(enough, common))
    return None


def _touched(node: Node) -> tuple[str, ...]:
    return (*node.op.inputs, *node.op.outputs)


def _common_length(nodes: Sequence[Node], axis: int, shapes: Mapping[str, Shape]) -> int:
    """Return into how many parts the nodes can run along an axis of what they make, 1 for none.

    Each tensor is cut along one axis; the greatest common divisor of their lengths counts.
    """
    own = dict.fromkeys((name for node in nodes for name in node.op.outputs), axis)
    for node in nodes:
        axes = _operands(node.op, axis, shapes)
        if not axes:
            return 1
        for name, at in zip(node.op.inputs, axes, strict=True):
            if (name in own or at != _WHOLE) and own.setdefault(name, at) != at:
                return 1
    return gcd(*(shapes[name][at] for name, at in own.items()))


def _operands(op: Operation, axis: int, shapes: Mapping[str, Shape]) -> list[int]:
    """Return the axis of each operand that runs with `axis` of the result, `_WHOLE` for none.

    Empty where the operation does not work along the axis part by part.
    """
    out, given = shapes[op.outputs[0]], [shapes[name] for name in op.inputs]
    rule = _RULES.get(type(op))
    if len(op.outputs) != 1 or axis >= len(out) or rule is None or not rule(op, axis, given, out):
        return []
    if isinstance(op, Dot) and axis == len(out) - 2:
        return [axis - (len(out) - len(given[0])), _WHOLE]
    if isinstance(op, Map | Dot):
        return _broadcast(axis, given, out)
    return [axis]


def _broadcast(axis: int, given: Sequence[Shape], out: Shape) -> list[int]:
    """Return the operands' axes by numpy's rules of broadcasting."""
    found = []
    for shape in given:
        own = axis - (len(out) - len(shape))
        found.append(own if own >= 0 and shape[own] == out[axis] else _WHOLE)
    return found if any(own != _WHOLE for own in found) else []


Rule = Callable[[Operation, int, Sequence[Shape], Shape], bool]


def _of_dot(_op: Operation, axis: int, given: Sequence[Shape], out: Shape) -> bool:
    return axis < len(out) - 1 and len(given[0]) >= 2


def _of_reshape(_op: Operation, axis: int, given: Sequence[Shape], out: Shape) -> bool:
    """The axes before it stay; its own may be cut into several or joined with the next ones."""
    source = given[0]
    if axis >= len(source) or source[:axis] != out[:axis]:
        return False
    return source[axis] % out[axis] == 0 or out[axis] % source[axis] == 0


def _of_transpose(op: Operation, axis: int, _given: Sequence[Shape], _out: Shape) -> bool:
    assert isinstance(op, Transpose)
    return op.perm[axis] == axis


def _of_softmax(op: Operation, axis: int, _given: Sequence[Shape], out: Shape) -> bool:
    assert isinstance(op, Softmax)
    return axis != op.axis and not (op.causal and axis == len(out) - 2)


def _of_reduce(op: Operation, axis: int, given: Sequence[Shape], out: Shape) -> bool:
    assert isinstance(op, Reduce)
    return axis < min(op.axes, default=len(out)) and given[0][axis] == out[axis]


_RULES: dict[type[Operation], Rule] = {
    Dot: _of_dot, Map: lambda *_: True, Reshape: _of_reshape, Transpose: _of_transpose,
    Softmax: _of_softmax, Reduce: _of_reduce,
}  # fmt: skip
"""operation -> whether it works along an axis of its result part by part"""


class _Cutter:
    """Writes a graph anew with its loops."""

    def __init__(self, graph: Graph, loops: Sequence[Loop]) -> None:
        self._graph = graph
        self._loop_of = {id(node): loop for loop in loops for node in loop.nodes}
        self._maker = {n: loop for loop in loops for node in loop.nodes for n in node.op.outputs}
        self._whole = set(graph.outputs) | {
            name for node in graph.nodes for name in node.op.inputs
            if self._maker.get(name) is not self._loop_of.get(id(node))
        }  # fmt: skip
        """values that are read outside the loop that makes them"""
        gone = self._maker.keys() - self._whole
        self._values = {name: v for name, v in graph.values.items() if name not in gone}
        self._nodes: list[Node] = []
        self._cuts: set[str] = set()

    def run(self) -> Graph:
        """Return the graph: nodes of a loop wait until another node reads what they make."""
        waiting: dict[int, tuple[Loop, list[Node]]] = {}
        for node in self._graph.nodes:
            mine = self._loop_of.get(id(node))
            for name in node.op.inputs:
                maker = self._maker.get(name)
                if maker is not None and maker is not mine and id(maker) in waiting:
                    self._write(*waiting.pop(id(maker)))
            if mine is None:
                self._nodes.append(node)
            else:
                waiting.setdefault(id(mine), (mine, []))[1].append(node)
        for loop, nodes in waiting.values():
            self._write(loop, nodes)
        return replace(self._graph, nodes=tuple(self._nodes), values=self._values)

    def _write(self, loop: Loop, nodes: Sequence[Node]) -> None:
        """Write some nodes of a loop, part by part, and what others read of them as a whole."""
        for part in range(loop.parts):
            for node in nodes:
                self._write_part(loop, node, part)
        for node in nodes:
            name = node.op.outputs[0]
            if name in self._whole:
                parts = tuple(_part(name, part) for part in range(loop.parts))
                op = Concat(inputs=parts, outputs=(name,), axis=loop.axis)
                self._nodes.append(replace(node, op=op))

    def _write_part(self, loop: Loop, node: Node, part: int) -> None:
        shapes = {name: self._graph.values[name].shape for name in _touched(node)}
        axes = _operands(node.op, loop.axis, shapes)
        inputs = []
        for name, axis in zip(node.op.inputs, axes, strict=True):
            if axis == _WHOLE:
                inputs.append(name)
            elif self._maker.get(name) is loop:
                inputs.append(_part(name, part))
            else:
                inputs.append(self._cut(node, name, axis, part, loop.parts))
        made = node.op.outputs[0]
        own = self._value(made, _part(made, part), loop.axis, loop.parts)
        op = replace(node.op, inputs=tuple(inputs), outputs=(own.name,))
        if isinstance(op, Reshape):
            op = replace(op, shape=own.shape)
        self._nodes.append(replace(node, op=op))

    def _cut(self, node: Node, name: str, axis: int, part: int, parts: int) -> str:
        """Return the cut of what comes from outside a loop, written once; named as numpy would."""
        shape = self._graph.values[name].shape
        step = shape[axis] // parts
        first, last = part * step, (part + 1) * step
        cut = f"{name}[{':, ' * axis}{first}:{last}]"
        if cut not in self._cuts:
            self._cuts.add(cut)
            self._value(name, cut, axis, parts)
            ranges = tuple(
                (first, last, 1) if at == axis else (0, side, 1) for at, side in enumerate(shape)
            )
            op = Slice(inputs=(name,), outputs=(cut,), ranges=ranges)
            self._nodes.append(replace(node, op=op))
        return cut

    def _value(self, whole: str, name: str, axis: int, parts: int) -> Value:
        """Add and return the value of one of equal parts."""
        value = self._graph.values[whole]
        shape = tuple(
            side // parts if at == axis else side for at, side in enumerate(value.shape)
        )  # fmt: skip
        self._values[name] = replace(value, name=name, shape=shape)
        return self._values[name]


def _part(name: str, part: int) -> str:
    return f"{name}[{part}]"
