"""Quantised operators: integers are multiplied as integers, scales are applied beside them."""

from __future__ import annotations

import numpy as np

from engine.kernels.conv.spec import Conv
from engine.kernels.dequantize.spec import Dequantize, blocks
from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Expand, Reshape, Transpose
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.reading import numpy_dtype
from lowering.frontends.onnx.spatial import dilations, pads, strides
from lowering.frontends.onnx.table import Importer

_BITS = 8
"""bits of a weight that the mesh keeps as an integer"""


def _aligned(ctx: NodeContext, name: str, axis: int, block: int) -> str:
    """Shape a scale or zero point so that it broadcasts over inputs[0]."""
    shape, own = ctx.value(0).shape, ctx.shape(name)
    if block:
        at = ctx.axis(axis, len(shape))
        lifted = (*own[: at + 1], 1, *own[at + 1 :])
        spread = (*own[: at + 1], block, *own[at + 1 :])
        whole = (*own[:at], own[at] * block, *own[at + 1 :])
        if whole != shape:
            raise NotCoveredError(f"blocks of {block} of scales {own} do not fill {shape}")
        grown = ctx.emit(Expand, ctx.emit(Reshape, name, shape=lifted), shape=spread)
        return ctx.emit(Reshape, grown, shape=whole)
    if len(own) != 1 or own[0] == 1:
        return ctx.emit(Reshape, name, shape=()) if own else name
    at = ctx.axis(axis, len(shape))
    return ctx.emit(Reshape, name, shape=(own[0], *(1,) * (len(shape) - 1 - at)))


def _quantized(ctx: NodeContext, x: str, scale: str, zero: str, dtype: str, output: int) -> None:
    """Emit saturate(round(x / scale) + zero)."""
    wide = ctx.builder.values[x].dtype
    rounded = ctx.map("round", ctx.map("div", x, scale))
    shifted = rounded
    if zero:
        shifted = ctx.map("add", rounded, ctx.map("cast", zero, dtype=wide))
    limits = np.iinfo(dtype)
    bounded = ctx.map("clip", shifted, params=(float(limits.min), float(limits.max)))
    ctx.map("cast", bounded, output=output, dtype=dtype)


def _quantize(ctx: NodeContext) -> None:
    axis, block = int(ctx.attr("axis", 1)), int(ctx.attr("block_size", 0))
    to = ctx.attr("output_dtype", 0)
    dtype = ctx.value(2).dtype if ctx.has(2) else "uint8"
    if to and not ctx.has(2):
        dtype = numpy_dtype(int(to), "the result").name
    if np.dtype(dtype).kind not in "iu":
        raise NotCoveredError(f"it quantises to {dtype}; integers of 8 to 32 bits are covered")
    scale = _aligned(ctx, ctx.input(1), axis, block)
    zero = _aligned(ctx, ctx.input(2), axis, block) if ctx.has(2) else ""
    x = ctx.input(0)
    if np.dtype(ctx.value(0).dtype).kind != "f":
        x = ctx.map("cast", x, dtype=ctx.value(1).dtype)
    _quantized(ctx, x, scale, zero, dtype, 0)


def _stored(ctx: NodeContext, axis: int, block: int) -> tuple[str, ...]:
    """Return constants of 8 bits, scale and zero point as the mesh keeps them; () if it cannot."""
    whole = ctx.value(0)
    names = [ctx.input(0), ctx.input(1), *([ctx.input(2)] if ctx.has(2) else [])]
    if whole.dtype not in ("int8", "uint8") or not all(map(ctx.builder.is_constant, names)):
        return ()
    own = ctx.value(1).shape
    if not block:
        sides = [1] * len(whole.shape)
        if ctx.value(1).elements > 1:
            sides[ctx.axis(axis, len(sides))] = own[0]
        own = tuple(sides)
    if blocks(whole.shape, own) is None:
        return ()
    return (names[0], *(ctx.emit(Reshape, name, shape=own) for name in names[1:]))


def _dequantize(ctx: NodeContext) -> None:
    axis, block = int(ctx.attr("axis", 1)), int(ctx.attr("block_size", 0))
    if ctx.node.output[0] in ctx.builder.weights and (parts := _stored(ctx, axis, block)):
        ctx.emit(Dequantize, *parts, output=0)
        return
    wide = ctx.value(1).dtype
    x = ctx.map("cast", ctx.input(0), dtype="int32" if wide != "float64" else "int64")
    if ctx.has(2):
        zero = _aligned(ctx, ctx.input(2), axis, block)
        x = ctx.map("sub", x, ctx.map("cast", zero, dtype=ctx.builder.values[x].dtype))
    scale = _aligned(ctx, ctx.input(1), axis, block)
    ctx.map("mul", ctx.map("cast", x, dtype=wide), scale, output=0)


def _matmul_nbits(ctx: NodeContext) -> None:
    """x (..., K), integers (N, blocks, block), scales (N, blocks), zero points?, order?, bias?."""
    terms, results = int(ctx.attr("K", 0)), int(ctx.attr("N", 0))
    bits, block = int(ctx.attr("bits", 4)), int(ctx.attr("block_size", 0))
    if bits != _BITS or (ctx.has(4) and ctx.value(4).elements):
        raise NotCoveredError(f"weights of {bits} bits, or in another order; 8 bits are covered")
    if block < 1 or terms % block or not ctx.builder.is_constant(ctx.input(1)):
        raise NotCoveredError(f"{terms} terms in blocks of {block}: they must divide, and be known")
    shape = (results, terms // block)
    integers = ctx.emit(Reshape, ctx.input(1), shape=(results, terms))
    scale = ctx.emit(Reshape, ctx.input(2), shape=shape)
    if ctx.has(3):
        if ctx.value(3).dtype != "uint8":
            raise NotCoveredError(f"zero points of {ctx.value(3).dtype}; uint8 is covered")
        zero = ctx.emit(Reshape, ctx.input(3), shape=shape)
    else:
        middle = np.full(shape, 1 << (_BITS - 1), np.uint8)
        zero = ctx.builder.add_constant(ctx.builder.fresh(f"{ctx.node.name}/zero"), middle)
    floats = ctx.emit(Dequantize, integers, scale, zero)
    weights = ctx.emit(Transpose, floats, perm=(1, 0))
    product = ctx.emit(Dot, ctx.input(0), weights, output=None if ctx.has(5) else 0)
    if ctx.has(5):
        ctx.map("add", product, ctx.input(5), output=0)


def _shifted(ctx: NodeContext, index: int, zero: int, shape: tuple[int, ...] | None) -> str:
    """Return an integer operand as int32, less its zero point."""
    wide = ctx.map("cast", ctx.input(index), dtype="int32")
    if not ctx.has(zero):
        return wide
    point = ctx.map("cast", ctx.input(zero), dtype="int32")
    if shape is not None and ctx.value(zero).elements > 1:
        point = ctx.emit(Reshape, point, shape=shape)
    elif ctx.value(zero).shape == (1,):
        point = ctx.emit(Reshape, point, shape=())
    return ctx.map("sub", wide, point)


def _row(ctx: NodeContext, zero: int) -> tuple[int, ...] | None:
    """Return the shape in which a left operand's zero points, one a row, broadcast."""
    own = ctx.value(zero).shape if ctx.has(zero) else ()
    return (own[0], 1) if len(own) == 1 else None


def _matmul_integer(ctx: NodeContext) -> None:
    left = _shifted(ctx, 0, 2, _row(ctx, 2))
    ctx.emit(Dot, left, _shifted(ctx, 1, 3, None), output=0)


def _qlinear_matmul(ctx: NodeContext) -> None:
    """a, a scale, a zero, b, b scale, b zero, y scale, y zero."""
    left = _shifted(ctx, 0, 2, _row(ctx, 2))
    product = ctx.emit(Dot, left, _shifted(ctx, 3, 5, None))
    a_scale = ctx.input(1)
    if len(ctx.value(1).shape) == 1 and ctx.value(1).elements > 1:
        a_scale = ctx.emit(Reshape, a_scale, shape=(ctx.value(1).elements, 1))
    _rescaled(ctx, product, a_scale, ctx.input(4), 6)


def _rescaled(ctx: NodeContext, product: str, a_scale: str, b_scale: str, y: int) -> None:
    """Quantise an integer product: its scale is that of both operands."""
    scales = []
    for name in (a_scale, b_scale, ctx.input(y)):
        wide = ctx.map("cast", name, dtype="float32")
        one = ctx.builder.values[wide].elements == 1
        scales.append(ctx.emit(Reshape, wide, shape=()) if one else wide)
    real = ctx.map("mul", ctx.map("cast", product, dtype="float32"), scales[0])
    real = ctx.map("mul", real, scales[1])
    zero = ctx.input(y + 1)
    if ctx.value(y + 1).elements == 1:
        zero = ctx.emit(Reshape, zero, shape=())
    _quantized(ctx, real, scales[2], zero, ctx.value(y + 1).dtype, 0)


def _convolved(ctx: NodeContext, x: str, weights: str, output: int | None) -> str:
    shape, kernel = ctx.shape(x), ctx.shape(weights)[2:]
    return ctx.emit(
        Conv,
        x,
        weights,
        output=output,
        strides=strides(ctx, len(kernel)),
        pads=pads(ctx, shape[2:], kernel),
        dilations=dilations(ctx, len(kernel)),
        groups=int(ctx.attr("group", 1)),
    )


def _kernels(ctx: NodeContext, index: int) -> tuple[int, ...]:
    shape = ctx.value(index).shape
    return (shape[0], *(1,) * (len(shape) - 1))


def _conv_integer(ctx: NodeContext) -> None:
    x, weights = _shifted(ctx, 0, 2, None), _shifted(ctx, 1, 3, _kernels(ctx, 1))
    _convolved(ctx, x, weights, 0)


def _qlinear_conv(ctx: NodeContext) -> None:
    """x, x scale, x zero, w, w scale, w zero, y scale, y zero, bias."""
    weights = _shifted(ctx, 3, 5, _kernels(ctx, 3))
    product = _convolved(ctx, _shifted(ctx, 0, 2, None), weights, None)
    rest = (1,) * (len(ctx.value(0).shape) - 2)
    if ctx.has(8):
        bias = ctx.emit(Reshape, ctx.input(8), shape=(ctx.value(8).elements, *rest))
        product = ctx.map("add", product, bias)
    w_scale = ctx.input(4)
    if ctx.value(4).elements > 1:
        w_scale = ctx.emit(Reshape, w_scale, shape=(ctx.value(4).elements, *rest))
    _rescaled(ctx, product, ctx.input(1), w_scale, 6)


OPERATORS: dict[str, Importer] = {
    "com.microsoft.MatMulNBits": _matmul_nbits,
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "MatMulInteger": _matmul_integer,
    "QLinearMatMul": _qlinear_matmul,
    "ConvInteger": _conv_integer,
    "QLinearConv": _qlinear_conv,
}
