"""Reductions and pooling."""

from __future__ import annotations

from math import prod

from engine.kernels.move.spec import Slice
from engine.kernels.reduce.spec import Reduce
from engine.kernels.window.spec import Window
from lowering.frontends.onnx.context import NodeContext
from lowering.frontends.onnx.spatial import dilations, pads, strides
from lowering.frontends.onnx.table import Importer

_FUNCTIONS = {
    "ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min",
    "ReduceProd": "prod", "ReduceSumSquare": "sum_square", "ReduceL1": "l1", "ReduceL2": "l2",
    "ReduceLogSum": "log_sum", "ReduceLogSumExp": "log_sum_exp",
    "ArgMax": "argmax", "ArgMin": "argmin",
}  # fmt: skip


def _reduce(ctx: NodeContext) -> None:
    rank = len(ctx.value(0).shape)
    given = ctx.integers(1, "axes") if ctx.has(1) else list(ctx.attr("axes") or [])
    if not given and ctx.attr("noop_with_empty_axes", 0):
        ctx.give(ctx.input(0))
        return
    axes = ctx.axes(given, rank) or tuple(range(rank))
    fn = _FUNCTIONS[ctx.node.op_type]
    keep = bool(ctx.attr("keepdims", 1))
    ctx.emit(Reduce, ctx.input(0), output=0, fn=fn, axes=axes, keepdims=keep)


def _arg_reduce(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    axis = ctx.axis(int(ctx.attr("axis", 0)), len(shape))
    fn = _FUNCTIONS[ctx.node.op_type]
    keep = bool(ctx.attr("keepdims", 1))
    if not ctx.attr("select_last_index", 0):
        ctx.emit(Reduce, ctx.input(0), output=0, fn=fn, axes=(axis,), keepdims=keep)
        return
    ranges: list[tuple[int, int | None, int]] = [(0, side, 1) for side in shape]
    ranges[axis] = (shape[axis] - 1, None, -1)
    turned = ctx.emit(Slice, ctx.input(0), ranges=tuple(ranges))
    from_end = ctx.emit(Reduce, turned, fn=fn, axes=(axis,), keepdims=keep)
    ctx.map("sub", ctx.scalar(shape[axis] - 1, "int64"), from_end, output=0)


def _global_pool(ctx: NodeContext) -> None:
    axes = tuple(range(2, len(ctx.value(0).shape)))
    fn = "mean" if ctx.node.op_type == "GlobalAveragePool" else "max"
    ctx.emit(Reduce, ctx.input(0), output=0, fn=fn, axes=axes)


def _extra(size: int, reach: int, stride: int) -> int:
    """Return the cells that the last window of ceil mode needs beyond the pads."""
    return -(size - reach) % stride


def _pool(ctx: NodeContext) -> None:
    kernel = tuple(int(side) for side in ctx.attr("kernel_shape") or ())
    spatial = ctx.value(0).shape[2:]
    if len(kernel) != len(spatial) or min(kernel, default=0) < 1:
        raise ValueError(f"kernel_shape {kernel} does not fit input {ctx.value(0).shape}")
    steps, spread = strides(ctx, len(kernel)), dilations(ctx, len(kernel))
    rims = pads(ctx, spatial, kernel)
    extra = _ceil_cells(ctx, kernel, spatial, steps, spread, rims)
    several = ctx.node.op_type == "MaxPool" and ctx.wants(1)
    ctx.emit_several(
        Window,
        ctx.input(0),
        outputs=(0, 1) if several else (0,),
        fn="max" if ctx.node.op_type == "MaxPool" else "mean",
        kernel=kernel,
        strides=steps,
        pads=rims,
        dilations=spread,
        count_include_pad=bool(ctx.attr("count_include_pad", 0)),
        extra=extra,
        column_major=bool(ctx.attr("storage_order", 0)),
    )


def _lp_pool(ctx: NodeContext) -> None:
    """Take powers, average with pads counted, and the root of the sum."""
    p, dtype = float(ctx.attr("p", 2)), ctx.value(0).dtype
    kernel = tuple(int(side) for side in ctx.attr("kernel_shape"))
    spatial = ctx.value(0).shape[2:]
    powers = ctx.map("pow", ctx.map("abs", ctx.input(0)), ctx.scalar(p, dtype))
    steps, spread, rims = (
        strides(ctx, len(kernel)),
        dilations(ctx, len(kernel)),
        pads(ctx, spatial, kernel),
    )
    extra = _ceil_cells(ctx, kernel, spatial, steps, spread, rims)
    mean = ctx.emit(
        Window, powers, fn="mean", kernel=kernel, strides=steps, pads=rims, dilations=spread,
        count_include_pad=True, extra=extra,
    )  # fmt: skip
    total = ctx.map("mul", mean, ctx.scalar(prod(kernel), dtype))
    ctx.map("pow", total, ctx.scalar(1 / p, dtype), output=0)


def _ceil_cells(
    ctx: NodeContext,
    kernel: tuple[int, ...],
    spatial: tuple[int, ...],
    steps: tuple[int, ...],
    spread: tuple[int, ...],
    rims: tuple[tuple[int, int], ...],
) -> tuple[int, ...]:
    """Return the cells beyond the pads that only ceil mode reaches, () for none."""
    extra = [0] * len(kernel)
    if ctx.attr("ceil_mode", 0) and ctx.attr("auto_pad", "NOTSET") == "NOTSET":
        for axis, size in enumerate(spatial):
            reach = (kernel[axis] - 1) * spread[axis] + 1
            more = _extra(size + sum(rims[axis]), reach, steps[axis])
            last = size + sum(rims[axis]) + more - reach
            extra[axis] = more if last < size + rims[axis][0] else 0
    return tuple(extra) if any(extra) else ()


OPERATORS: dict[str, Importer] = {
    **dict.fromkeys(_FUNCTIONS, _reduce),
    "ArgMax": _arg_reduce,
    "ArgMin": _arg_reduce,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "MaxPool": _pool,
    "LpPool": _lp_pool,
    "AveragePool": _pool,
}
