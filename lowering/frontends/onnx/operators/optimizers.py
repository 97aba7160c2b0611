"""Optimizer updates of ai.onnx.preview.training, as elementwise chains."""

from __future__ import annotations

from lowering.frontends.onnx.context import NodeContext, NotCoveredError
from lowering.frontends.onnx.table import Importer


class _Update:
    """The state shared by all tensors of one update node."""

    def __init__(self, ctx: NodeContext, states: int) -> None:
        self.ctx = ctx
        self.count = (len(ctx.inputs) - 2) // (2 + states)
        self.dtype = ctx.value(2).dtype
        if len(ctx.inputs) != 2 + self.count * (2 + states):
            raise ValueError(f"{len(ctx.inputs)} inputs do not fit {states + 2} a tensor")

    def tensor(self, kind: int, index: int) -> str:
        """Return input `kind` of tensor `index`: 0 the tensor, 1 its gradient, then its states."""
        return self.ctx.input(2 + kind * self.count + index)

    def number(self, value: float) -> str:
        """Return a scalar of the tensors' dtype."""
        return self.ctx.scalar(value, self.dtype)

    def attribute(self, name: str, default: float) -> str:
        """Return an attribute as a scalar."""
        return self.number(float(self.ctx.attr(name, default)))

    def regularized(self, index: int) -> str:
        """Return the gradient with the tensor's share of the norm added."""
        decay = self.ctx.map("mul", self.attribute("norm_coefficient", 0.0), self.tensor(0, index))
        return self.ctx.map("add", decay, self.tensor(1, index))


def _momentum(ctx: NodeContext) -> None:
    update = _Update(ctx, 1)
    mode = ctx.attr("mode", "standard")
    if mode not in ("standard", "nesterov"):
        raise NotCoveredError(f"its mode '{mode}' is neither standard nor nesterov")
    alpha = update.attribute("alpha", 0.0)
    later = ctx.map("cast", ctx.map("greater", ctx.input(1), ctx.scalar(0, "int64")),
                    dtype=update.dtype)  # fmt: skip
    beta = update.attribute("beta", 1.0)
    one = update.number(1.0)
    share = ctx.map("add", ctx.map("mul", ctx.map("sub", beta, one), later), one)
    for index in range(update.count):
        gradient = update.regularized(index)
        fresh = ctx.map("mul", share, gradient)
        held = ctx.map("mul", alpha, update.tensor(2, index))
        velocity = ctx.map("add", held, fresh, output=update.count + index)
        step = velocity
        if mode == "nesterov":
            step = ctx.map("add", gradient, ctx.map("mul", alpha, velocity))
        moved = ctx.map("mul", ctx.input(0), step)
        ctx.map("sub", update.tensor(0, index), moved, output=index)


def _adagrad(ctx: NodeContext) -> None:
    update = _Update(ctx, 1)
    steps = ctx.map("cast", ctx.input(1), dtype=update.dtype)
    slowed = ctx.map("mul", steps, update.attribute("decay_factor", 0.0))
    rate = ctx.map("div", ctx.input(0), ctx.map("add", slowed, update.number(1.0)))
    epsilon = update.attribute("epsilon", 0.0)
    for index in range(update.count):
        gradient = update.regularized(index)
        square = ctx.map("mul", gradient, gradient)
        held = ctx.map("add", update.tensor(2, index), square, output=update.count + index)
        scale = ctx.map("add", ctx.map("sqrt", held), epsilon)
        moved = ctx.map("div", ctx.map("mul", rate, gradient), scale)
        ctx.map("sub", update.tensor(0, index), moved, output=index)


def _adam(ctx: NodeContext) -> None:
    update = _Update(ctx, 2)
    alpha, beta = float(ctx.attr("alpha", 0.9)), float(ctx.attr("beta", 0.999))
    rate = _corrected_rate(update, alpha, beta)
    epsilon = update.attribute("epsilon", 0.0)
    after = update.attribute("norm_coefficient_post", 0.0)
    for index in range(update.count):
        gradient = update.regularized(index)
        mean = _blend(update, alpha, update.tensor(2, index), gradient, update.count + index)
        square = ctx.map("mul", gradient, gradient)
        spread = _blend(update, beta, update.tensor(3, index), square, 2 * update.count + index)
        scale = ctx.map("add", ctx.map("sqrt", spread), epsilon)
        moved = ctx.map("div", ctx.map("mul", rate, mean), scale)
        new = ctx.map("sub", update.tensor(0, index), moved)
        kept = ctx.map("sub", update.number(1.0), after)
        ctx.map("mul", kept, new, output=index)


def _blend(update: _Update, share: float, old: str, new: str, output: int) -> str:
    """Return share x old + (1 - share) x new."""
    ctx = update.ctx
    kept = ctx.map("mul", update.number(share), old)
    added = ctx.map("mul", update.number(1 - share), new)
    return ctx.map("add", kept, added, output=output)


def _corrected_rate(update: _Update, alpha: float, beta: float) -> str:
    """Return the rate with the bias of zero states taken out, from the second step on."""
    ctx = update.ctx
    steps = ctx.map("cast", ctx.input(1), dtype=update.dtype)
    one = update.number(1.0)
    left = [
        ctx.map("sub", one, ctx.map("pow", update.number(base), steps)) for base in (alpha, beta)
    ]
    later = ctx.map("greater", ctx.input(1), ctx.scalar(0, "int64"))
    corrected = ctx.map("div", ctx.map("mul", ctx.input(0), ctx.map("sqrt", left[1])), left[0])
    return ctx.map("where", later, corrected, ctx.input(0))


OPERATORS: dict[str, Importer] = {"Momentum": _momentum, "Adagrad": _adagrad, "Adam": _adam}
