"""Elementwise ONNX operators."""

from __future__ import annotations

from functools import reduce

import numpy as np

from engine.kernels.move.spec import Reshape
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.reading import numpy_dtype
from lowering.frontends.onnx.table import Importer

_DIRECT = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow", "Neg": "neg",
    "Abs": "abs", "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Reciprocal": "reciprocal",
    "Erf": "erf", "Tanh": "tanh", "Sigmoid": "sigmoid", "Sin": "sin", "Cos": "cos", "Tan": "tan",
    "Floor": "floor", "Ceil": "ceil", "Round": "round", "Sign": "sign", "Relu": "relu",
    "HardSwish": "hard_swish", "Softplus": "softplus", "Softsign": "softsign", "Mish": "mish",
    "Equal": "equal", "Less": "less", "LessOrEqual": "less_equal", "Greater": "greater",
    "GreaterOrEqual": "greater_equal", "And": "and", "Or": "or", "Xor": "xor", "Not": "not",
    "IsNaN": "isnan", "Where": "where", "Asin": "asin", "Acos": "acos", "Atan": "atan",
    "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh",
    "BitwiseAnd": "bit_and", "BitwiseOr": "bit_or", "BitwiseXor": "bit_xor",
    "BitwiseNot": "bit_not",
}  # fmt: skip
_VARIADIC = {"Sum": "add", "Max": "max", "Min": "min"}
_WITH_PARAMETERS: dict[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "LeakyRelu": ("leaky_relu", (("alpha", 0.01),)),
    "ThresholdedRelu": ("thresholded_relu", (("alpha", 1.0),)),
    "Elu": ("elu", (("alpha", 1.0),)),
    "Celu": ("celu", (("alpha", 1.0),)),
    "HardSigmoid": ("hard_sigmoid", (("alpha", 0.2), ("beta", 0.5))),
    "Shrink": ("shrink", (("lambd", 0.5), ("bias", 0.0))),
}


def _direct(ctx: NodeContext) -> None:
    ctx.map(_DIRECT[ctx.node.op_type], *ctx.inputs, output=0)


def _chain(ctx: NodeContext, fn: str, last: int | None) -> str:
    """Combine all inputs from the left; the last result goes to output `last`."""
    first, *rest = ctx.inputs
    if not rest:
        return first
    inner = reduce(lambda so_far, each: ctx.map(fn, so_far, each), rest[:-1], first)
    return ctx.map(fn, inner, rest[-1], output=last)


def _variadic(ctx: NodeContext) -> None:
    result = _chain(ctx, _VARIADIC[ctx.node.op_type], 0)
    if len(ctx.inputs) == 1:
        ctx.give(result)


def _mean(ctx: NodeContext) -> None:
    total = _chain(ctx, "add", None)
    share = ctx.scalar(1 / len(ctx.inputs), ctx.value(0).dtype)
    ctx.map("mul", total, share, output=0)


def _parametric(ctx: NodeContext) -> None:
    fn, parameters = _WITH_PARAMETERS[ctx.node.op_type]
    numbers = tuple(float(ctx.attr(name, default)) for name, default in parameters)
    ctx.map(fn, ctx.input(0), output=0, params=numbers)


def _selu(ctx: NodeContext) -> None:
    if {"alpha", "gamma"} & {each.name for each in ctx.node.attribute}:
        gamma = ctx.scalar(ctx.attr("gamma", 1.0507009873554805), ctx.value(0).dtype)
        alpha = float(ctx.attr("alpha", 1.6732632423543772))
        ctx.map("mul", ctx.map("elu", ctx.input(0), params=(alpha,)), gamma, output=0)
    else:
        ctx.map("selu", ctx.input(0), output=0)


def _gelu(ctx: NodeContext) -> None:
    kinds = {"none": "gelu", "tanh": "gelu_tanh"}
    approximate = ctx.attr("approximate", "none")
    if approximate not in kinds:
        raise NotCoveredError(f"its approximation '{approximate}' is neither none nor tanh")
    ctx.map(kinds[approximate], ctx.input(0), output=0)


def _clip(ctx: NodeContext) -> None:
    bounds = {index: fn for index, fn in ((1, "max"), (2, "min")) if ctx.has(index)}
    known = ctx.builder.constants
    if all(ctx.input(index) in known for index in bounds):
        low = float(ctx.constant(1, "minimum")) if 1 in bounds else -np.inf
        high = float(ctx.constant(2, "maximum")) if 2 in bounds else np.inf
        ctx.map("clip", ctx.input(0), output=0, params=(low, high))
        return
    result = ctx.input(0)
    for index, fn in bounds.items():
        result = ctx.map(fn, result, ctx.input(index))
    ctx.give(result)


def _prelu(ctx: NodeContext) -> None:
    zero = ctx.scalar(0, ctx.value(0).dtype)
    slope, shape = ctx.input(1), ctx.value(0).shape
    if len(shape) > 2 and ctx.shape(slope) == shape[1:2] != shape[-1:]:
        slope = ctx.emit(Reshape, slope, shape=(shape[1], *(1,) * (len(shape) - 2)))
    negative = ctx.map("mul", ctx.map("min", ctx.input(0), zero), slope)
    ctx.map("add", ctx.map("relu", ctx.input(0)), negative, output=0)


def _cast(ctx: NodeContext) -> None:
    if ctx.node.op_type == "CastLike":
        dtype = ctx.value(1).dtype
    else:
        dtype = numpy_dtype(int(ctx.attr("to", 0)), "the result").name
    if dtype == ctx.value(0).dtype:
        ctx.give(ctx.input(0))
    else:
        ctx.map("cast", ctx.input(0), output=0, dtype=dtype)


def _swish(ctx: NodeContext) -> None:
    alpha = ctx.attr("alpha", 1.0)
    if alpha == 1:
        ctx.map("silu", ctx.input(0), output=0)
        return
    scaled = ctx.map("mul", ctx.input(0), ctx.scalar(alpha, ctx.value(0).dtype))
    ctx.map("mul", ctx.input(0), ctx.map("sigmoid", scaled), output=0)


def _mod(ctx: NodeContext) -> None:
    ctx.map("fmod" if ctx.attr("fmod", 0) else "mod", *ctx.inputs, output=0)


def _bit_shift(ctx: NodeContext) -> None:
    left = ctx.attr("direction", "") == "LEFT"
    ctx.map("shift_left" if left else "shift_right", *ctx.inputs, output=0)


def _is_inf(ctx: NodeContext) -> None:
    signs = ctx.attr("detect_positive", 1), ctx.attr("detect_negative", 1)
    if all(signs):
        ctx.map("isinf", ctx.input(0), output=0)
        return
    bound = (np.inf if signs[0] else -np.inf) if any(signs) else np.nan
    ctx.map("equal", ctx.input(0), ctx.scalar(bound, ctx.value(0).dtype), output=0)


OPERATORS: dict[str, Importer] = {
    **dict.fromkeys(_DIRECT, _direct),
    **dict.fromkeys(_VARIADIC, _variadic),
    **dict.fromkeys(_WITH_PARAMETERS, _parametric),
    "Mean": _mean,
    "Selu": _selu,
    "Gelu": _gelu,
    "Clip": _clip,
    "PRelu": _prelu,
    "Cast": _cast,
    "CastLike": _cast,
    "Mod": _mod,
    "Swish": _swish,
    "IsInf": _is_inf,
    "BitShift": _bit_shift,
}
