"""Gradients: one rule for each operation that the transformers here are made of.

A rule takes a node and the gradient of its result and returns gradients of what it reads. Knows
operations, no layers and no loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from engine.kernels.dot.spec import Dot
from engine.kernels.embedding.spec import RowSum
from engine.kernels.gather.spec import Gather
from engine.kernels.moe.spec import Moe, MoeGrad
from engine.kernels.move.spec import Concat, Pad, Reshape, Slice, Transpose
from engine.kernels.pointwise.slopes import SLOPES
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import Operation
from lowering.errors import ModelImportError
from lowering.frontends.transformer.reverse_norm import normalize_gradients
from lowering.frontends.transformer.writer import Writer
from lowering.graph import Node

Gradients = dict[str, str]
Rule = Callable[[Writer, str, Any, str], Gradients]


def summed_to(pen: Writer, name: str, gradient: str, shape: tuple[int, ...]) -> str:
    """Return a gradient summed over the axes along which a value of `shape` was repeated."""
    whole = pen.shape(gradient)
    if whole == shape:
        return gradient
    extra = len(whole) - len(shape)
    axes = list(range(extra))
    axes += [extra + i for i, side in enumerate(shape) if side == 1 and whole[extra + i] != 1]
    total = pen.emit(
        Reduce, f"{name}/summed", "ReduceSum", gradient, fn="sum", axes=tuple(axes), keepdims=False
    )
    return pen.reshape(f"{name}/shaped", total, *shape)


def _map(pen: Writer, name: str, op: Map, given: str) -> Gradients:
    first = op.inputs[0]
    if op.fn in SLOPES:
        slope = pen.map(f"{op.fn}_slope", f"{name}/slope", first)
        return {first: pen.map("mul", f"{name}/x", given, slope)}
    if op.fn == "identity":
        return {first: given}
    if op.fn == "neg":
        return {first: pen.map("neg", f"{name}/x", given)}
    shapes = [pen.shape(each) for each in op.inputs]
    if op.fn == "add":
        parts = [given, given]
    elif op.fn == "mul":
        parts = [
            pen.map("mul", f"{name}/{place}", given, other) if wanted(pen, op.inputs[i]) else given
            for i, (place, other) in enumerate(zip("ab", op.inputs[::-1], strict=True))
        ]
    else:
        raise ModelImportError(f"node '{name}': the function '{op.fn}' has no gradient here")
    return {
        each: summed_to(pen, f"{name}/{place}", part, shape)
        for each, place, part, shape in zip(op.inputs, "ab", parts, shapes, strict=True)
        if wanted(pen, each)
    }


def wanted(pen: Writer, name: str) -> bool:
    """Return whether a value's gradient leads to a weight: it is computed, or made of weights."""
    return not pen.builder.is_constant(name) or bool(pen.builder.sources([name]))


def _dot(pen: Writer, name: str, op: Dot, given: str) -> Gradients:
    a, b = op.inputs
    found: Gradients = {}
    if wanted(pen, a):
        turned = _flipped(pen, f"{name}/b_turned", b)
        found[a] = summed_to(pen, f"{name}/a", pen.matmul(f"{name}/a", given, turned), pen.shape(a))
    if not wanted(pen, b):
        return found
    if len(pen.shape(b)) == 2:
        rows = prod(pen.shape(a)[:-1])
        a = pen.reshape(f"{name}/a_rows", a, rows, pen.shape(a)[-1])
        given = pen.reshape(f"{name}/given_rows", given, rows, pen.shape(given)[-1])
    turned = _flipped(pen, f"{name}/a_turned", a)
    product = pen.matmul(f"{name}/b", turned, given)
    found[b] = summed_to(pen, f"{name}/b", product, pen.shape(b))
    return found


def _flipped(pen: Writer, name: str, x: str) -> str:
    rank = len(pen.shape(x))
    return pen.transpose(name, x, *range(rank - 2), rank - 1, rank - 2)


def _reshape(pen: Writer, name: str, op: Reshape, given: str) -> Gradients:
    return {op.inputs[0]: pen.reshape(f"{name}/x", given, *pen.shape(op.inputs[0]))}


def _transpose(pen: Writer, name: str, op: Transpose, given: str) -> Gradients:
    back = sorted(range(len(op.perm)), key=op.perm.__getitem__)
    return {op.inputs[0]: pen.transpose(f"{name}/x", given, *back)}


def _slice(pen: Writer, name: str, op: Slice, given: str) -> Gradients:
    shape = pen.shape(op.inputs[0])
    cuts = [slice(*cut).indices(side) for cut, side in zip(op.ranges, shape, strict=True)]
    pads = tuple((low, side - high) for (low, high, _), side in zip(cuts, shape, strict=True))
    return {op.inputs[0]: pen.emit(Pad, f"{name}/x", "Pad", given, pads=pads, mode="constant")}


def _concat(pen: Writer, name: str, op: Concat, given: str) -> Gradients:
    found: Gradients = {}
    start = 0
    for index, each in enumerate(op.inputs):
        stop = start + pen.shape(each)[op.axis]
        found[each] = pen.cut(f"{name}/{index}", given, op.axis, start, stop)
        start = stop
    return found


def _softmax(pen: Writer, name: str, op: Softmax, given: str) -> Gradients:
    shares = op.outputs[0]
    weighted = pen.map("mul", f"{name}/weighted", given, shares)
    total = pen.emit(
        Reduce, f"{name}/total", "ReduceSum", weighted, fn="sum", axes=(op.axis,), keepdims=True
    )
    rest = pen.map("sub", f"{name}/rest", given, total)
    return {op.inputs[0]: pen.map("mul", f"{name}/x", rest, shares)}


def _gather(pen: Writer, name: str, op: Gather, given: str) -> Gradients:
    table, ids = op.inputs
    rows = pen.shape(table)[0]
    return {table: pen.emit(RowSum, f"{name}/table", "Embedding", given, ids, length=rows)}


def _moe(pen: Writer, name: str, op: Moe, given: str) -> Gradients:
    read = op.inputs[:5]
    parts = ("x", "router", "gate", "up", "down")
    outputs = {f"{name}/{part}": pen.shape(each) for part, each in zip(parts, read, strict=True)}
    made = pen.emit_several(
        MoeGrad, "MixtureOfExperts", (*op.inputs, given), outputs, active=op.active, fn=op.fn,
        scoring=op.scoring, normalize=op.normalize, scale=op.scale, groups=op.groups,
        active_groups=op.active_groups,
    )  # fmt: skip
    return dict(zip(read, made, strict=True))


_RULES: Mapping[type[Operation], Rule] = {
    Map: _map,
    Dot: _dot,
    Reshape: _reshape,
    Transpose: _transpose,
    Slice: _slice,
    Concat: _concat,
    Softmax: _softmax,
    Normalize: normalize_gradients,
    Gather: _gather,
    Moe: _moe,
}


def add_gradients(pen: Writer, result: str, gradient: str) -> Gradients:
    """Add the backward pass from `gradient` of `result`; return gradients by value name.

    Raises ModelImportError for an operation without a rule.
    """
    found: Gradients = {result: gradient}
    forward = tuple(pen.builder.nodes)
    of_weights = tuple(pen.derived)
    for node in (*reversed(forward), *reversed(of_weights)):
        given = found.get(node.op.outputs[0])
        if given is not None:
            _follow(pen, node, given, found)
    pen.kind = None
    return found


def _follow(pen: Writer, node: Node, given: str, found: Gradients) -> None:
    rule = _RULES.get(type(node.op))
    if rule is None:
        raise ModelImportError(f"node '{node.name}': {type(node.op).__name__} has no gradient here")
    pen.kind = f"{node.kind}Grad"
    for name, part in rule(pen, f"back/{node.name}", node.op, given).items():
        if not wanted(pen, name):
            continue
        if name in found:
            fresh = pen.builder.fresh(f"back/{name}/sum")
            part = pen.add(fresh, found[name], part)
        found[name] = part
