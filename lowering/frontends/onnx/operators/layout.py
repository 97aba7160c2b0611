"""ONNX operators that move data without arithmetic."""

from __future__ import annotations

from math import prod

import numpy as np

from engine.kernels.move.spec import Concat, Expand, Pad, Reshape, Slice, Transpose
from lowering.frontends.builder import MAX_FOLDED_BYTES
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.table import Importer
from lowering.frontends.shapes import broadcast


def _to_shape(ctx: NodeContext, shape: tuple[int, ...]) -> None:
    if shape == ctx.value(0).shape:
        ctx.give(ctx.input(0))
    else:
        ctx.emit(Reshape, ctx.input(0), output=0, shape=shape)


def _reshape(ctx: NodeContext) -> None:
    value = ctx.value(0)
    shape = ctx.integers(1, "shape")
    if not ctx.attr("allowzero", 0):
        for axis, side in enumerate(shape):
            if side == 0:
                if axis >= len(value.shape):
                    raise ValueError(f"shape {shape} copies axis {axis}, input is {value.shape}")
                shape[axis] = value.shape[axis]
    if shape.count(-1) > 1 or min(shape, default=0) < -1:
        raise ValueError(f"shape {shape} may hold one -1 and no other negative side")
    if -1 in shape:
        rest = -prod(shape)
        if rest == 0 or value.elements % rest:
            raise ValueError(f"cannot reshape {value.shape} to {shape}: other element counts")
        shape[shape.index(-1)] = value.elements // rest
    _to_shape(ctx, tuple(shape))


def _flatten(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    axis = int(ctx.attr("axis", 1))
    axis = axis + len(shape) if axis < 0 else axis
    _to_shape(ctx, (prod(shape[:axis]), prod(shape[axis:])))


def _squeeze(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    if ctx.has(1):
        axes = ctx.axes(ctx.integers(1, "axes"), len(shape))
    else:
        axes = tuple(axis for axis, side in enumerate(shape) if side == 1)
    if any(shape[axis] != 1 for axis in axes):
        raise ValueError(f"cannot squeeze axes {axes} of {shape}: a side is not 1")
    _to_shape(ctx, tuple(side for axis, side in enumerate(shape) if axis not in axes))


def _unsqueeze(ctx: NodeContext) -> None:
    shape = list(ctx.value(0).shape)
    added = ctx.integers(1, "axes")
    for axis in ctx.axes(added, len(shape) + len(added)):
        shape.insert(axis, 1)
    _to_shape(ctx, tuple(shape))


def _transpose(ctx: NodeContext) -> None:
    rank = len(ctx.value(0).shape)
    perm = tuple(int(axis) for axis in ctx.attr("perm") or reversed(range(rank)))
    if perm == tuple(range(rank)):
        ctx.give(ctx.input(0))
    else:
        ctx.emit(Transpose, ctx.input(0), output=0, perm=perm)


def _concat(ctx: NodeContext) -> None:
    axis = ctx.axis(int(ctx.attr("axis", 0)), len(ctx.value(0).shape))
    parts = [each for each in ctx.inputs if ctx.builder.values[each].elements] or ctx.inputs[:1]
    if len(parts) == 1:
        ctx.give(parts[0])
    else:
        ctx.emit(Concat, *parts, output=0, axis=axis)


def _cut(start: int, stop: int, step: int, size: int) -> tuple[int, int | None, int]:
    """Return an ONNX range as a numpy one: bounds clamped, None for 'to the very end'."""
    if step == 0:
        raise ValueError("a slice step is 0")
    first, last, _ = slice(start, stop, step).indices(size)
    return (first, None if last < 0 else last, step)


def _slice(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    starts, stops = ctx.integers(1, "starts"), ctx.integers(2, "ends")
    axes = ctx.integers(3, "axes") if ctx.has(3) else list(range(len(starts)))
    steps = ctx.integers(4, "steps") if ctx.has(4) else [1] * len(starts)
    ranges: list[tuple[int, int | None, int]] = [(0, side, 1) for side in shape]
    for start, stop, axis, step in zip(starts, stops, axes, steps, strict=True):
        place = ctx.axis(axis, len(shape))
        ranges[place] = _cut(start, stop, step, shape[place])
    if ranges == [(0, side, 1) for side in shape]:
        ctx.give(ctx.input(0))
    else:
        ctx.emit(Slice, ctx.input(0), output=0, ranges=tuple(ranges))


def _split(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    axis = ctx.axis(int(ctx.attr("axis", 0)), len(shape))
    parts = len(ctx.node.output)
    if ctx.has(1):
        sizes = ctx.integers(1, "split")
    else:
        each = -(-shape[axis] // parts)
        sizes = [max(min(each, shape[axis] - i * each), 0) for i in range(parts)]
    if sum(sizes) != shape[axis] or len(sizes) != parts:
        raise ValueError(f"parts {sizes} do not fill axis {axis} of {shape}")
    start = 0
    for index, size in enumerate(sizes):
        if ctx.node.output[index]:
            ranges = [(0, side, 1) for side in shape]
            ranges[axis] = (start, start + size, 1)
            ctx.emit(Slice, ctx.input(0), output=index, ranges=tuple(ranges))
        start += size


def _pad(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    flat = ctx.integers(1, "pads")
    axes = ctx.integers(3, "axes") if ctx.has(3) else list(range(len(shape)))
    if len(flat) != 2 * len(axes):
        raise ValueError(f"pads {flat} do not fit {len(axes)} axes")
    pads = [(0, 0)] * len(shape)
    for place, axis in enumerate(axes):
        pads[ctx.axis(axis, len(shape))] = (flat[place], flat[place + len(axes)])
    if min(min(pair) for pair in pads) < 0:
        raise NotCoveredError(f"its pads {flat} cut the tensor; use Slice")
    mode = ctx.attr("mode", "constant")
    value = float(ctx.constant(2, "value").reshape(())) if ctx.has(2) else 0.0
    ctx.emit(Pad, ctx.input(0), output=0, pads=tuple(pads), mode=mode, value=value)


def _expand(ctx: NodeContext) -> None:
    shape = broadcast(ctx.value(0).shape, tuple(ctx.integers(1, "shape")))
    if shape == ctx.value(0).shape:
        ctx.give(ctx.input(0))
    else:
        ctx.emit(Expand, ctx.input(0), output=0, shape=shape)


def _tile(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    repeats = ctx.integers(1, "repeats")
    if len(repeats) != len(shape):
        raise ValueError(f"repeats {repeats} do not fit shape {shape}")
    pairs = list(zip(repeats, shape, strict=True))
    spread = ctx.emit(Reshape, ctx.input(0), shape=tuple(x for _, n in pairs for x in (1, n)))
    spread = ctx.emit(Expand, spread, shape=tuple(x for pair in pairs for x in pair))
    ctx.emit(Reshape, spread, output=0, shape=tuple(r * n for r, n in pairs))


def _depth_to_space(ctx: NodeContext) -> None:
    n, c, h, w = ctx.value(0).shape
    block = int(ctx.attr("blocksize", 1))
    if block < 1 or c % (block * block):
        raise ValueError(f"{c} channels do not split into blocks of {block} x {block}")
    inner = c // (block * block)
    if ctx.attr("mode", "DCR") == "DCR":
        parts, perm = (n, block, block, inner, h, w), (0, 3, 4, 1, 5, 2)
    else:
        parts, perm = (n, inner, block, block, h, w), (0, 1, 4, 2, 5, 3)
    moved = ctx.emit(Transpose, ctx.emit(Reshape, ctx.input(0), shape=parts), perm=perm)
    ctx.emit(Reshape, moved, output=0, shape=(n, inner, h * block, w * block))


def _trilu(ctx: NodeContext) -> None:
    value = ctx.value(0)
    diagonal = ctx.integers(1, "diagonal")[0] if ctx.has(1) else 0
    if len(value.shape) < 2 or prod(value.shape[-2:]) > MAX_FOLDED_BYTES:
        raise NotCoveredError(f"its input of shape {value.shape} is no matrix one can mask")
    ones = np.ones(value.shape[-2:], dtype=bool)
    keep = np.triu(ones, diagonal) if ctx.attr("upper", 1) else np.tril(ones, diagonal)
    mask = ctx.builder.add_constant(ctx.builder.fresh(f"{ctx.node.name}/mask"), keep)
    ctx.map("where", mask, ctx.input(0), ctx.scalar(0, value.dtype), output=0)


OPERATORS: dict[str, Importer] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Concat": _concat,
    "Slice": _slice,
    "Split": _split,
    "Pad": _pad,
    "Expand": _expand,
    "Tile": _tile,
    "DepthToSpace": _depth_to_space,
    "Trilu": _trilu,
}
