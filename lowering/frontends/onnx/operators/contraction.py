"""Matrix products and convolutions."""

from __future__ import annotations

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Pad, Reshape, Slice, Transpose
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.spatial import dilations, kernel_fits, pads, strides, transposed_pads
from lowering.frontends.onnx.table import Importer


def _gemm(ctx: NodeContext) -> None:
    operands = []
    for index, flag in enumerate(("transA", "transB")):
        name = ctx.input(index)
        if len(ctx.shape(name)) != 2:
            raise ValueError(f"operand {index} of shape {ctx.shape(name)} is not a matrix")
        operands.append(ctx.emit(Transpose, name, perm=(1, 0)) if ctx.attr(flag, 0) else name)
    alpha, beta = ctx.attr("alpha", 1.0), ctx.attr("beta", 1.0)
    dtype = ctx.value(0).dtype
    added = ctx.has(2) and beta != 0
    last = "dot" if alpha == 1 and not added else "mul" if not added else "add"
    result = ctx.emit(Dot, *operands, output=0 if last == "dot" else None)
    if alpha != 1:
        factor = ctx.scalar(alpha, dtype)
        result = ctx.map("mul", result, factor, output=0 if last == "mul" else None)
    if added:
        bias = ctx.input(2)
        if beta != 1:
            bias = ctx.map("mul", bias, ctx.scalar(beta, dtype))
        ctx.map("add", result, bias, output=0)


def _matmul(ctx: NodeContext) -> None:
    a, b = ctx.input(0), ctx.input(1)
    left, right = ctx.shape(a), ctx.shape(b)
    if len(left) >= 2 and len(right) >= 2:
        ctx.emit(Dot, a, b, output=0)
        return
    if not left or not right:
        raise ValueError(f"cannot multiply {left} by {right}: a scalar is no matrix")
    if len(left) == 1:
        a = ctx.emit(Reshape, a, shape=(1, left[0]))
    if len(right) == 1:
        b = ctx.emit(Reshape, b, shape=(right[0], 1))
    product = ctx.emit(Dot, a, b)
    shape = list(ctx.shape(product))
    if len(right) == 1:
        shape.pop()
    if len(left) == 1:
        shape.pop(-1 if len(right) == 1 else -2)
    ctx.emit(Reshape, product, output=0, shape=tuple(shape))


def _conv(ctx: NodeContext) -> None:
    x, weights = ctx.value(0), ctx.value(1)
    kernel = weights.shape[2:]
    rank = len(kernel)
    kernel_fits(ctx, kernel)
    if not 1 <= rank <= 3 or len(x.shape) != rank + 2:
        raise NotCoveredError(f"input {x.shape} and weights {weights.shape} are not 1 to 3-D")
    bias = ctx.has(2)
    result = ctx.emit(
        Conv,
        ctx.input(0),
        ctx.input(1),
        output=None if bias else 0,
        strides=strides(ctx, rank),
        pads=pads(ctx, x.shape[2:], kernel),
        dilations=dilations(ctx, rank),
        groups=int(ctx.attr("group", 1)),
    )
    if bias:
        shape = (*ctx.shape(ctx.input(2)), *(1,) * rank)
        ctx.map("add", result, ctx.emit(Reshape, ctx.input(2), shape=shape), output=0)


def _conv_transpose(ctx: NodeContext) -> None:
    """Convolve the input, spread out by zeros, with the flipped kernel."""
    x, weights = ctx.value(0).shape, ctx.value(1).shape
    rank, groups = len(weights) - 2, int(ctx.attr("group", 1))
    kernel_fits(ctx, weights[2:])
    if not 1 <= rank <= 3 or len(x) != rank + 2 or weights[0] != x[1] or x[1] % groups:
        raise NotCoveredError(f"input {x} and weights {weights} are not 1 to 3-D")
    steps, spread = strides(ctx, rank), dilations(ctx, rank)
    reach = [(side - 1) * gap + 1 for side, gap in zip(weights[2:], spread, strict=True)]
    rims = transposed_pads(ctx, x[2:], reach)
    spaced = _spread_out(ctx, ctx.input(0), steps)
    spaced, rims = _cut_negative(ctx, spaced, rims)
    bias = ctx.has(2)
    result = ctx.emit(
        Conv,
        spaced,
        _flipped(ctx, groups),
        output=None if bias else 0,
        strides=(1,) * rank,
        pads=rims,
        dilations=spread,
        groups=groups,
    )
    if bias:
        shape = (*ctx.shape(ctx.input(2)), *(1,) * rank)
        ctx.map("add", result, ctx.emit(Reshape, ctx.input(2), shape=shape), output=0)


def _spread_out(ctx: NodeContext, x: str, steps: tuple[int, ...]) -> str:
    """Put step - 1 zeros between the elements of each spatial axis."""
    if all(step == 1 for step in steps):
        return x
    lead, spatial = ctx.shape(x)[:2], ctx.shape(x)[2:]
    cells = ctx.emit(Reshape, x, shape=(*lead, *(s for side in spatial for s in (side, 1))))
    rims = [(0, 0), (0, 0), *(rim for step in steps for rim in ((0, 0), (0, step - 1)))]
    padded = ctx.emit(Pad, cells, pads=tuple(rims), mode="constant")
    whole = [side * step for side, step in zip(spatial, steps, strict=True)]
    joined = ctx.emit(Reshape, padded, shape=(*lead, *whole))
    ends = [(side - 1) * step + 1 for side, step in zip(spatial, steps, strict=True)]
    ranges = ((0, lead[0], 1), (0, lead[1], 1), *((0, end, 1) for end in ends))
    return ctx.emit(Slice, joined, ranges=ranges)


def _cut_negative(
    ctx: NodeContext, x: str, rims: tuple[tuple[int, int], ...]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Cut the input where its pads are negative."""
    if min(min(pair) for pair in rims) >= 0:
        return x, rims
    shape = ctx.shape(x)
    cuts = [(0, shape[0], 1), (0, shape[1], 1)]
    for side, (before, after) in zip(shape[2:], rims, strict=True):
        cuts.append((max(0, -before), side - max(0, -after), 1))
    cut = ctx.emit(Slice, x, ranges=tuple(cuts))
    return cut, tuple((max(0, before), max(0, after)) for before, after in rims)


def _flipped(ctx: NodeContext, groups: int) -> str:
    """Return weights (C, K / groups, *kernel) as (K, C / groups, *kernel), each kernel turned."""
    channels, kernels, *kernel = ctx.value(1).shape
    whole = ((0, channels, 1), (0, kernels, 1))
    back = tuple((side - 1, None, -1) for side in kernel)
    turned = ctx.emit(Slice, ctx.input(1), ranges=(*whole, *back))
    parts = (groups, channels // groups, kernels, *kernel)
    grouped = ctx.emit(Reshape, turned, shape=parts)
    swapped = ctx.emit(Transpose, grouped, perm=(0, 2, 1, *range(3, len(parts))))
    return ctx.emit(Reshape, swapped, shape=(groups * kernels, channels // groups, *kernel))


OPERATORS: dict[str, Importer] = {
    "Gemm": _gemm,
    "MatMul": _matmul,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
}
