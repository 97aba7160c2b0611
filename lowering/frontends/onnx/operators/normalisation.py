"""Softmax and normalisations, kept whole where the mesh has them whole."""

from __future__ import annotations

from math import prod

import numpy as np

from engine.kernels.move.spec import Pad, Reshape, Slice
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.table import Importer

_MAX_NEIGHBOURS = 64
"""channels an LRN may sum over; each one is a slice and an addition (our assumption)"""


def _softmax(ctx: NodeContext) -> None:
    axis = ctx.axis(int(ctx.attr("axis", -1)), len(ctx.value(0).shape))
    log = ctx.node.op_type == "LogSoftmax"
    ctx.emit(Softmax, ctx.input(0), output=0, axis=axis, log=log)


def _layer_norm(ctx: NodeContext) -> None:
    rank = len(ctx.value(0).shape)
    axes = tuple(range(ctx.axis(int(ctx.attr("axis", -1)), rank), rank))
    epsilon = float(ctx.attr("epsilon", 1e-5))
    center = ctx.node.op_type == "LayerNormalization"
    operands = [each for each in ctx.inputs if each]
    ctx.emit(Normalize, *operands, output=0, axes=axes, epsilon=epsilon, center=center)
    if not ctx.read.isdisjoint(ctx.node.output[1:]):
        _statistics(ctx, axes, epsilon)


def _statistics(ctx: NodeContext, axes: tuple[int, ...], epsilon: float) -> None:
    """Give mean and inverse deviation, which only training reads."""
    mean = ctx.emit(Reduce, ctx.input(0), fn="mean", axes=axes)
    centered = ctx.map("sub", ctx.input(0), mean)
    variance = ctx.emit(Reduce, ctx.map("mul", centered, centered), fn="mean", axes=axes)
    shifted = ctx.map("add", variance, ctx.scalar(epsilon, ctx.value(0).dtype))
    inverse = ctx.map("rsqrt", shifted)
    for index, value in enumerate((mean, inverse), start=1):
        if index < len(ctx.node.output) and ctx.node.output[index] in ctx.read:
            ctx.give(value, index)


def _channels(ctx: NodeContext, index: int) -> str:
    """Return a per-channel vector shaped to broadcast over (N, C, *spatial)."""
    size = ctx.value(index).elements
    rank = len(ctx.value(0).shape) - 2
    return ctx.emit(Reshape, ctx.input(index), shape=(size, *(1,) * rank))


def _batch_norm(ctx: NodeContext) -> None:
    if ctx.attr("training_mode", 0):
        _batch_norm_training(ctx)
        return
    ctx.only_output("of running statistics")
    scale, bias, mean, variance = (_channels(ctx, index) for index in range(1, 5))
    epsilon = ctx.scalar(ctx.attr("epsilon", 1e-5), ctx.value(4).dtype)
    spread = ctx.map("sqrt", ctx.map("add", variance, epsilon))
    factor = ctx.map("div", scale, spread)
    shift = ctx.map("sub", bias, ctx.map("mul", mean, factor))
    ctx.map("add", ctx.map("mul", ctx.input(0), factor), shift, output=0)


def _batch_norm_training(ctx: NodeContext) -> None:
    """Normalise by the batch's own statistics and blend them into the running ones."""
    rank = len(ctx.value(0).shape)
    axes = (0, *range(2, rank))
    scale, bias = _channels(ctx, 1), _channels(ctx, 2)
    epsilon = float(ctx.attr("epsilon", 1e-5))
    ctx.emit(Normalize, ctx.input(0), scale, bias, output=0, axes=axes, epsilon=epsilon)
    if not (ctx.wants(1) or ctx.wants(2)):
        return
    mean = ctx.emit(Reduce, ctx.input(0), fn="mean", axes=axes)
    centered = ctx.map("sub", ctx.input(0), mean)
    square = ctx.map("mul", centered, centered)
    variance = ctx.emit(Reduce, square, fn="mean", axes=axes)
    momentum = float(ctx.attr("momentum", 0.9))
    for index, fresh in ((1, mean), (2, variance)):
        if ctx.wants(index):
            dtype = ctx.value(index + 2).dtype
            flat = ctx.emit(Reshape, fresh, shape=ctx.value(index + 2).shape)
            kept = ctx.map("mul", ctx.input(index + 2), ctx.scalar(momentum, dtype))
            added = ctx.map("mul", flat, ctx.scalar(1 - momentum, dtype))
            ctx.map("add", kept, added, output=index)


def _instance_norm(ctx: NodeContext) -> None:
    rank = len(ctx.value(0).shape)
    epsilon = float(ctx.attr("epsilon", 1e-5))
    scale, bias = _channels(ctx, 1), _channels(ctx, 2)
    axes = tuple(range(2, rank))
    ctx.emit(Normalize, ctx.input(0), scale, bias, output=0, axes=axes, epsilon=epsilon)


def _group_norm(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    groups = int(ctx.attr("num_groups", 1))
    if groups < 1 or shape[1] % groups:
        raise ValueError(f"{shape[1]} channels do not split into {groups} groups")
    parts = (shape[0], groups, prod(shape[1:]) // groups)
    grouped = ctx.emit(Reshape, ctx.input(0), shape=parts)
    epsilon = float(ctx.attr("epsilon", 1e-5))
    normal = ctx.emit(Normalize, grouped, axes=(2,), epsilon=epsilon)
    if ctx.value(1).elements == groups:
        scaled = [ctx.emit(Reshape, ctx.input(i), shape=(groups, 1)) for i in (1, 2)]
        normal = ctx.map("add", ctx.map("mul", normal, scaled[0]), scaled[1])
        ctx.emit(Reshape, normal, output=0, shape=shape)
        return
    whole = ctx.emit(Reshape, normal, shape=shape)
    scale, bias = _channels(ctx, 1), _channels(ctx, 2)
    ctx.map("add", ctx.map("mul", whole, scale), bias, output=0)


def _lp_norm(ctx: NodeContext) -> None:
    axis = ctx.axis(int(ctx.attr("axis", -1)), len(ctx.value(0).shape))
    fn = "l1" if ctx.attr("p", 2) == 1 else "l2"
    length = ctx.emit(Reduce, ctx.input(0), fn=fn, axes=(axis,))
    dtype = ctx.value(0).dtype
    tiny = ctx.scalar(float(np.finfo(dtype).tiny), dtype)
    ctx.map("div", ctx.input(0), ctx.map("max", length, tiny), output=0)


def _lrn(ctx: NodeContext) -> None:
    """Write the sum over neighbouring channels as shifted slices added up."""
    shape, dtype = ctx.value(0).shape, ctx.value(0).dtype
    size = int(ctx.attr("size", 1))
    if not 1 <= size <= _MAX_NEIGHBOURS:
        raise NotCoveredError(f"it sums over {size} channels; 1 to {_MAX_NEIGHBOURS} are covered")
    before = (size - 1) // 2
    pads = ((0, 0), (before, size - 1 - before), *((0, 0),) * (len(shape) - 2))
    square = ctx.map("mul", ctx.input(0), ctx.input(0))
    padded = ctx.emit(Pad, square, pads=pads, mode="constant")
    total = ""
    for shift in range(size):
        whole = [(0, side, 1) for side in shape]
        whole[1] = (shift, shift + shape[1], 1)
        part = ctx.emit(Slice, padded, ranges=tuple(whole))
        total = ctx.map("add", total, part) if total else part
    scaled = ctx.map("mul", total, ctx.scalar(ctx.attr("alpha", 1e-4) / size, dtype))
    base = ctx.map("add", scaled, ctx.scalar(ctx.attr("bias", 1.0), dtype))
    power = ctx.map("pow", base, ctx.scalar(ctx.attr("beta", 0.75), dtype))
    ctx.map("div", ctx.input(0), power, output=0)


OPERATORS: dict[str, Importer] = {
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _layer_norm,
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "GroupNormalization": _group_norm,
    "LpNormalization": _lp_norm,
    "LRN": _lrn,
}
