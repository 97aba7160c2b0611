"""The feed-forward part of a layer: plain, gated, or a mixture of experts."""

from __future__ import annotations

from engine.kernels.moe.spec import Moe
from lowering.frontends.transformer.architecture import Architecture, Experts
from lowering.frontends.transformer.writer import Writer


def feed_forward(pen: Writer, name: str, x: str, sides: Architecture, layer: int) -> str:
    """Return the feed-forward part of x (batch, tokens, width)."""
    if not sides.has_experts(layer):
        return dense(pen, name, x, sides, sides.inner)
    experts = sides.experts
    assert experts is not None
    mixed = _mixture(pen, f"{name}/experts", x, sides, experts)
    if not experts.shared:
        return mixed
    shared = dense(pen, f"{name}/shared", x, sides, experts.shared * experts.inner)
    return pen.add(f"{name}/sum", mixed, shared)


def dense(pen: Writer, name: str, x: str, sides: Architecture, inner: int) -> str:
    """Return the layer that every token takes."""
    up = pen.linear(f"{name}/up", x, inner, bias=sides.inner_bias)
    if sides.gated:
        gate = pen.linear(f"{name}/gate", x, inner, bias=sides.inner_bias)
        passed = pen.map(sides.fn, f"{name}/act", gate)
        hidden = pen.map("mul", f"{name}/gated", passed, up)
    else:
        hidden = pen.map(sides.fn, f"{name}/act", up)
    return pen.linear(f"{name}/down", hidden, sides.width, bias=sides.inner_bias)


def _mixture(pen: Writer, name: str, x: str, sides: Architecture, experts: Experts) -> str:
    wide = (experts.count, sides.width, experts.inner)
    operands = [
        x,
        pen.weight(f"{name}/router/weight", sides.width, experts.count),
        pen.weight(f"{name}/gate/weight", *wide),
        pen.weight(f"{name}/up/weight", *wide),
        pen.weight(f"{name}/down/weight", experts.count, experts.inner, sides.width),
    ]
    if experts.bias:
        operands.append(pen.weight(f"{name}/router/bias", experts.count, trained=False))
    return pen.emit(
        Moe, name, "MixtureOfExperts", *operands, active=experts.active, fn=sides.fn,
        scoring=experts.scoring, normalize=experts.normalize, scale=experts.scale,
        groups=experts.groups, active_groups=experts.active_groups,
    )  # fmt: skip
