"""Products of a mixture of experts for the ledger, counted apart from the cost model."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from engine.kernels.moe.spec import Moe, MoeGrad


def expert_products(op: Moe, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Each token's product with the router and with three matrices of each expert it takes.

    In reverse each of them gives two gradients, and gate and up are multiplied again.
    """
    router = prod(shapes[op.inputs[0]]) * shapes[op.inputs[1]][-1]
    one = prod(shapes[op.inputs[0]]) * shapes[op.inputs[2]][-1] * op.active
    return 2 * (router + 3 * one) + 2 * one if isinstance(op, MoeGrad) else router + 3 * one
