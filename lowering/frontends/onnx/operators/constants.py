"""Operators that give constants, and those that give back what they get."""

from __future__ import annotations

from math import prod
from pathlib import Path

import numpy as np

from lowering.frontends.builder import MAX_ELEMENTS, MAX_FOLDED_BYTES
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.reading import read_tensor
from lowering.frontends.onnx.table import Importer


def _constant(ctx: NodeContext) -> None:
    name = ctx.node.output[0]
    for attribute, dtype in (
        ("value_float", np.float32),
        ("value_floats", np.float32),
        ("value_int", np.int64),
        ("value_ints", np.int64),
    ):
        found = ctx.attr(attribute)
        if found is not None:
            ctx.builder.add_constant(name, np.asarray(found, dtype=dtype), {name})
            return
    tensor = ctx.attr("value")
    if tensor is None:
        raise NotCoveredError("it holds strings or a sparse tensor")
    ctx.builder.add_constant(name, read_tensor(tensor, Path()), {name})


def _constant_of_shape(ctx: NodeContext) -> None:
    """Keep one number seen from everywhere, so a large result takes no memory."""
    name = ctx.node.output[0]
    shape = tuple(ctx.integers(0, "shape"))
    tensor = ctx.attr("value")
    fill = np.zeros(1, np.float32) if tensor is None else read_tensor(tensor, Path())
    if min(shape, default=0) < 0 or prod(shape) > MAX_ELEMENTS or fill.size != 1:
        raise ValueError(f"cannot fill the shape {shape}")
    if ctx.shape_only and fill.dtype.kind == "f" and shape:
        ctx.builder.add_unknown(name, shape, fill.dtype.name, {name})
    else:
        ctx.builder.add_constant(name, np.broadcast_to(fill.reshape(()), shape), {name})


def _shape(ctx: NodeContext) -> None:
    shape = ctx.value(0).shape
    cut = slice(ctx.attr("start", 0), ctx.attr("end"))
    ctx.give_constant(np.asarray(shape[cut], dtype=np.int64))


def _size(ctx: NodeContext) -> None:
    ctx.give_constant(np.asarray(ctx.value(0).elements, dtype=np.int64))


def _range(ctx: NodeContext) -> None:
    start, limit, delta = (
        ctx.constant(i, what).item() for i, what in enumerate(("start", "limit", "delta"))
    )
    dtype = np.dtype(ctx.value(0).dtype)
    if delta == 0 or (limit - start) / delta * dtype.itemsize > MAX_FOLDED_BYTES:
        raise ValueError(f"the range from {start} to {limit} by {delta} is endless or too long")
    count = max(int(np.ceil((limit - start) / delta)), 0)
    ctx.give_constant((start + np.arange(count) * delta).astype(dtype))


def _pass_through(ctx: NodeContext) -> None:
    ctx.give(ctx.input(0))


def _dropout(ctx: NodeContext) -> None:
    """Give back the input; in training mode under a mask drawn once, from the node's seed."""
    training = ctx.has(2) and bool(ctx.constant(2, "training mode").item())
    share = float(ctx.constant(1, "ratio").item()) if training and ctx.has(1) else 0.5
    value = ctx.value(0)
    if not training or share == 0:
        ctx.give(ctx.input(0))
        if ctx.wants(1):
            ctx.give_constant(np.broadcast_to(np.True_, value.shape), 1)
        return
    if not 0 <= share < 1 or value.elements * 8 > MAX_FOLDED_BYTES:
        raise NotCoveredError(f"it drops a share of {share} of shape {value.shape} at random")
    draws = np.random.RandomState(int(ctx.attr("seed", 0)) & 0xFFFFFFFF).uniform(size=value.shape)
    mask = ctx.builder.add_constant(ctx.builder.fresh(f"{ctx.node.name}/mask"), draws >= share)
    kept = ctx.map("where", mask, ctx.input(0), ctx.scalar(0, value.dtype))
    ctx.map("mul", kept, ctx.scalar(1 / (1 - share), value.dtype), output=0)
    if ctx.wants(1):
        ctx.give_constant(draws >= share, 1)


OPERATORS: dict[str, Importer] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Shape": _shape,
    "Size": _size,
    "Range": _range,
    "Identity": _pass_through,
    "Dropout": _dropout,
}
