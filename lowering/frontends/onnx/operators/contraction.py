"""Matrix products and convolutions."""

from __future__ import annotations

from engine.kernels.conv.spec import Conv
from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Reshape, Transpose
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.spatial import dilations, kernel_fits, pads, strides
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


OPERATORS: dict[str, Importer] = {"Gemm": _gemm, "MatMul": _matmul, "Conv": _conv}
