"""Reads and writes at computed indices, selection, running sums."""

from __future__ import annotations

from math import prod

import numpy as np

from engine.kernels.gather.spec import Gather, GatherElements, GatherND, Scatter, ScatterND
from engine.kernels.move.spec import Concat, Expand, Reshape
from engine.kernels.reduce.spec import CumSum, Reduce, TopK
from lowering.frontends.builder import MAX_FOLDED_BYTES
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.reading import numpy_dtype
from lowering.frontends.onnx.table import Importer


def _gather(ctx: NodeContext) -> None:
    axis = ctx.axis(int(ctx.attr("axis", 0)), len(ctx.value(0).shape))
    ctx.emit(Gather, ctx.input(0), ctx.input(1), output=0, axis=axis)


def _gather_nd(ctx: NodeContext) -> None:
    batch = int(ctx.attr("batch_dims", 0))
    ctx.emit(GatherND, ctx.input(0), ctx.input(1), output=0, batch_dims=batch)


def _gather_elements(ctx: NodeContext) -> None:
    axis = ctx.axis(int(ctx.attr("axis", 0)), len(ctx.value(0).shape))
    ctx.emit(GatherElements, ctx.input(0), ctx.input(1), output=0, axis=axis)


def _scatter_elements(ctx: NodeContext) -> None:
    axis = ctx.axis(int(ctx.attr("axis", 0)), len(ctx.value(0).shape))
    reduction = ctx.attr("reduction", "none")
    operands = (ctx.input(index) for index in range(3))
    ctx.emit(Scatter, *operands, output=0, axis=axis, reduction=reduction)


def _scatter_nd(ctx: NodeContext) -> None:
    operands = (ctx.input(index) for index in range(3))
    ctx.emit(ScatterND, *operands, output=0, reduction=ctx.attr("reduction", "none"))


def _tensor_scatter(ctx: NodeContext) -> None:
    """Write a run of positions for each sample of a cache, as indices of ScatterND."""
    cache, update = ctx.value(0).shape, ctx.value(1).shape
    axis = ctx.axis(int(ctx.attr("axis", -2)), len(cache))
    lead = update[: axis + 1]
    if prod(lead) * (axis + 1) * 8 > MAX_FOLDED_BYTES:
        raise NotCoveredError(f"its update of shape {update} has too many positions")
    places = np.indices(lead).astype(np.int64)
    steps = _constant(ctx, places[axis][..., None])
    if ctx.has(2):
        first = ctx.emit(Reshape, ctx.input(2), shape=(lead[0], *(1,) * (axis + 1)))
        steps = ctx.map("add", steps, first)
    if ctx.attr("mode", "linear") == "circular":
        steps = ctx.map("mod", steps, _constant(ctx, np.asarray(cache[axis], np.int64)))
    before = _constant(ctx, np.moveaxis(places[:axis], 0, -1))
    indices = ctx.emit(Concat, before, steps, axis=axis + 1)
    ctx.emit(ScatterND, ctx.input(0), indices, ctx.input(1), output=0)


def _constant(ctx: NodeContext, array: np.ndarray) -> str:
    return ctx.builder.add_constant(ctx.builder.fresh(f"{ctx.node.name}/value"), array)


def _top_k(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    axis = ctx.axis(int(ctx.attr("axis", -1)), len(shape))
    (count,) = ctx.integers(1, "count k")
    largest = bool(ctx.attr("largest", 1))
    ctx.emit_several(TopK, ctx.input(0), outputs=(0, 1), axis=axis, k=count, largest=largest)


def _cum_sum(ctx: NodeContext) -> None:
    axis = ctx.axis(ctx.integers(1, "axis")[0], len(ctx.value(0).shape))
    exclusive, reverse = bool(ctx.attr("exclusive", 0)), bool(ctx.attr("reverse", 0))
    ctx.emit(CumSum, ctx.input(0), output=0, axis=axis, exclusive=exclusive, reverse=reverse)


def _one_hot(ctx: NodeContext) -> None:
    """Compare each index with a row of all classes, then choose on or off."""
    shape = ctx.value(0).shape
    (depth,) = ctx.integers(1, "depth")
    axis = ctx.axis(int(ctx.attr("axis", -1)), len(shape) + 1)
    lifted = (*shape[:axis], 1, *shape[axis:])
    indices = ctx.map("cast", ctx.input(0), dtype="int64")
    size = _constant(ctx, np.asarray(depth, np.int64))
    wrapped = ctx.map("where", ctx.map("less", indices, _constant(ctx, np.asarray(0, np.int64))),
                      ctx.map("add", indices, size), indices)  # fmt: skip
    classes = np.arange(depth).reshape(depth, *(1,) * (len(shape) - axis))
    hot = ctx.map("equal", ctx.emit(Reshape, wrapped, shape=lifted), _constant(ctx, classes))
    _choose(ctx, hot, ctx.input(2))


def _choose(ctx: NodeContext, hot: str, values: str) -> None:
    """Give values[1] where `hot`, else values[0]."""
    scalars = [
        ctx.emit(Reshape, ctx.emit(Gather, values, _constant(ctx, np.asarray([at])), axis=0),
                 shape=())
        for at in (1, 0)
    ]  # fmt: skip
    ctx.map("where", hot, *scalars, output=0)


def _hard_max(ctx: NodeContext) -> None:
    value = ctx.value(0)
    axis = ctx.axis(int(ctx.attr("axis", -1)), len(value.shape))
    best = ctx.emit(Reduce, ctx.input(0), fn="argmax", axes=(axis,))
    side = value.shape[axis]
    places = np.arange(side).reshape(side, *(1,) * (len(value.shape) - 1 - axis))
    hot = ctx.map("equal", best, _constant(ctx, places))
    ctx.map("cast", hot, output=0, dtype=value.dtype)


def _eye_like(ctx: NodeContext) -> None:
    rows, cols = ctx.value(0).shape
    to = ctx.attr("dtype")
    dtype = numpy_dtype(int(to), "the result") if to else np.dtype(ctx.value(0).dtype)
    ctx.give_constant(np.eye(rows, cols, int(ctx.attr("k", 0)), dtype=dtype))


def _reverse_sequence(ctx: NodeContext) -> None:
    """Read each sample's steps in reverse up to its length, which must be known."""
    shape = ctx.value(0).shape
    batch, time = int(ctx.attr("batch_axis", 1)), int(ctx.attr("time_axis", 0))
    lengths = np.asarray(ctx.integers(1, "sequence lengths"))
    steps = np.arange(shape[time])[:, None]
    order = np.where(steps < lengths, lengths - 1 - steps, steps)
    order = order if time == 0 else order.T
    lifted = order.reshape(*order.shape, *(1,) * (len(shape) - 2))
    if {batch, time} != {0, 1}:
        raise ValueError(f"batch axis {batch} and time axis {time} are not 0 and 1")
    ctx.emit(
        GatherElements,
        ctx.input(0),
        ctx.emit(Expand, _constant(ctx, lifted), shape=shape),
        output=0,
        axis=time,
    )


OPERATORS: dict[str, Importer] = {
    "Gather": _gather,
    "GatherND": _gather_nd,
    "GatherElements": _gather_elements,
    "ScatterElements": _scatter_elements,
    "Scatter": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "TopK": _top_k,
    "CumSum": _cum_sum,
    "OneHot": _one_hot,
    "Hardmax": _hard_max,
    "EyeLike": _eye_like,
    "ReverseSequence": _reverse_sequence,
}
