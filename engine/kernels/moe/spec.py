"""Mixtures of experts, kept whole: gathering the experts' weights is what no mesh should do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Moe(Operation):
    """Each token goes to its `active` best experts, whose gated layers are summed by weight.

    inputs = (x (..., H), router (H, E), gate (E, H, I), up (E, H, I), down (E, I, H), bias (E,)?).
    An expert computes `(fn(x @ gate) * (x @ up)) @ down`. The optional bias moves the choice of
    experts, not their weights.
    """

    active: int
    """experts a token takes"""
    fn: str = "silu"
    """scalar function of the gate"""
    scoring: str = "softmax"
    """softmax | sigmoid of the router's product"""
    normalize: bool = True
    """divide a token's weights by their sum"""
    scale: float = 1.0
    """factor of the weights at the end"""
    groups: int = 1
    """experts fall into this many equal groups"""
    active_groups: int = 1
    """groups a token may take experts from, by the sum of their two best scores"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoeGrad(Moe):
    """The reverse of Moe: inputs = those of Moe and then the gradient of its result.

    outputs = gradients of (x, router, gate, up, down). The choice of experts has no gradient.
    """


@dataclass(frozen=True, slots=True)
class MoeSides:
    """Lengths of a mixture."""

    tokens: int
    width: int
    experts: int
    inner: int

    @classmethod
    def of(cls, op: Moe, shapes: Mapping[str, tuple[int, ...]]) -> MoeSides:
        """Return the lengths of `op`."""
        x, (experts, _, inner) = shapes[op.inputs[0]], shapes[op.inputs[2]]
        return cls(prod(x[:-1]), x[-1], experts, inner)

    def terms(self, op: Moe) -> int:
        """Return the multiply-accumulates for each of a token's `width` results."""
        return op.active * self.expert_terms(op) + self.router_terms(op)

    def expert_terms(self, op: Moe) -> int:
        """Return those of one expert that the token takes: three products.

        In reverse every product has two (one for each operand), and gate and up are computed again.
        """
        return (8 if isinstance(op, MoeGrad) else 3) * self.inner

    def router_terms(self, op: Moe) -> int:
        """Return those of the router; in reverse its product has two."""
        return (2 if isinstance(op, MoeGrad) else 1) * self.experts
