"""LSTM, GRU and RNN: one product for all time steps, then the cell step by step."""

from __future__ import annotations

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Concat, Reshape, Slice, Transpose
from engine.kernels.recurrent.spec import GATES, Recurrent
from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.table import Importer

_ACTIVATIONS: dict[str, tuple[str, tuple[float, ...]]] = {
    "tanh": ("tanh", ()),
    "sigmoid": ("sigmoid", ()),
    "relu": ("relu", ()),
    "leakyrelu": ("leaky_relu", (0.01,)),
    "thresholdedrelu": ("thresholded_relu", (1.0,)),
    "elu": ("elu", (1.0,)),
    "hardsigmoid": ("hard_sigmoid", (0.2, 0.5)),
    "softsign": ("softsign", ()),
    "softplus": ("softplus", ()),
}
_DEFAULTS = {"lstm": ("Sigmoid", "Tanh", "Tanh"), "gru": ("Sigmoid", "Tanh"), "rnn": ("Tanh",)}
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def _recurrent(ctx: NodeContext) -> None:
    cell = ctx.node.op_type.lower()
    kind = ctx.attr("direction", "forward")
    if kind not in _DIRECTIONS:
        raise ValueError(f"its direction '{kind}' is none of {', '.join(_DIRECTIONS)}")
    x = ctx.input(0)
    if len(ctx.shape(x)) != 3:
        raise ValueError(f"its input of shape {ctx.shape(x)} has not three axes")
    if ctx.attr("layout", 0):
        x = ctx.emit(Transpose, x, perm=(1, 0, 2))
    made = [
        _direction(ctx, cell, x, at, reverse) for at, reverse in enumerate(_DIRECTIONS[kind])
    ]  # fmt: skip
    _give(ctx, made)


def _direction(ctx: NodeContext, cell: str, x: str, at: int, reverse: bool) -> tuple[str, ...]:
    """Return (all states, last state, last cell state of an lstm) of one direction."""
    gates = GATES[cell]
    steps, batch, size = ctx.shape(x)
    hidden = ctx.shape(ctx.input(2))[-1]
    weights = ctx.emit(Transpose, _pick(ctx, 1, at), perm=(1, 0))
    rows = ctx.emit(Reshape, x, shape=(steps * batch, size))
    product = ctx.emit(Dot, rows, weights)
    operands: dict[str, str] = {}
    if ctx.has(3):
        both = _pick(ctx, 3, at)
        half = gates * hidden
        product = ctx.map("add", product, ctx.emit(Slice, both, ranges=((0, half, 1),)))
        operands["bias"] = ctx.emit(Slice, both, ranges=((half, 2 * half, 1),))
    if ctx.has(4):
        operands["lengths"] = ctx.input(4)
    for name, index in (("h", 5), ("c", 6)):
        if ctx.has(index) and (name == "h" or cell == "lstm"):
            operands[name] = _state(ctx, index, at)
    if cell == "lstm" and ctx.has(7):
        operands["peepholes"] = _pick(ctx, 7, at)
    gated = ctx.emit(Reshape, product, shape=(steps, batch, gates * hidden))
    return ctx.emit_several(
        Recurrent,
        gated,
        ctx.emit(Transpose, _pick(ctx, 2, at), perm=(1, 0)),
        *operands.values(),
        outputs=(None,) * (3 if cell == "lstm" else 2),
        cell=cell,
        hidden=hidden,
        operands=tuple(operands),
        activations=_activations(ctx, cell, at),
        reverse=reverse,
        clip=float(ctx.attr("clip", 0.0)),
        linear_before_reset=bool(ctx.attr("linear_before_reset", 0)),
        coupled=bool(ctx.attr("input_forget", 0)),
    )


def _pick(ctx: NodeContext, index: int, at: int) -> str:
    """Return one direction's part of an operand, without the axis of directions."""
    shape = ctx.value(index).shape
    if at >= shape[0]:
        raise ValueError(f"input {index} of shape {shape} has no direction {at + 1}")
    ranges = ((at, at + 1, 1), *((0, side, 1) for side in shape[1:]))
    part = ctx.emit(Slice, ctx.input(index), ranges=ranges)
    return ctx.emit(Reshape, part, shape=shape[1:])


def _state(ctx: NodeContext, index: int, at: int) -> str:
    """Return one direction's initial state (batch, hidden)."""
    if not ctx.attr("layout", 0):
        return _pick(ctx, index, at)
    batch, _, hidden = ctx.value(index).shape
    ranges = ((0, batch, 1), (at, at + 1, 1), (0, hidden, 1))
    part = ctx.emit(Slice, ctx.input(index), ranges=ranges)
    return ctx.emit(Reshape, part, shape=(batch, hidden))


def _activations(ctx: NodeContext, cell: str, at: int) -> tuple[tuple[str, tuple[float, ...]], ...]:
    count = len(_DEFAULTS[cell])
    names = [each.decode() for each in ctx.attr("activations") or []]
    chosen = names[at * count : (at + 1) * count] or list(_DEFAULTS[cell])
    alphas, betas = (
        list(ctx.attr("activation_alpha") or []),
        list(ctx.attr("activation_beta") or []),
    )
    found = []
    for name in chosen:
        if name.lower() not in _ACTIVATIONS:
            raise NotCoveredError(f"its activation '{name}' is not covered")
        function, params = _ACTIVATIONS[name.lower()]
        given = tuple(each.pop(0) for each in (alphas, betas)[: len(params)] if each)
        found.append((function, (*given, *params[len(given) :])))
    return tuple(found)


def _give(ctx: NodeContext, made: list[tuple[str, ...]]) -> None:
    """Stack the directions: Y (steps, directions, batch, hidden), last states without steps."""
    swap = bool(ctx.attr("layout", 0))
    for index in range(len(made[0])):
        if not ctx.wants(index):
            continue
        parts = []
        for results in made:
            shape = ctx.shape(results[index])
            lifted = (shape[0], 1, *shape[1:]) if index == 0 else (1, *shape)
            parts.append(ctx.emit(Reshape, results[index], shape=lifted))
        axis = 1 if index == 0 else 0
        whole = parts[0] if len(parts) == 1 else ctx.emit(Concat, *parts, axis=axis)
        if swap:
            whole = ctx.emit(Transpose, whole, perm=(2, 0, 1, 3) if index == 0 else (1, 0, 2))
        ctx.give(whole, index)


OPERATORS: dict[str, Importer] = dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent)
