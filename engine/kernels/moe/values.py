"""Values of mixtures of experts, forwards and in reverse, token by token of each expert."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.moe.spec import Moe, MoeGrad
from engine.kernels.pointwise.functions import FUNCTIONS, Array
from engine.kernels.pointwise.slopes import slope


def scores_of(op: Moe, product: Array) -> Array:
    """Return the router's scores (tokens, E)."""
    if op.scoring == "sigmoid":
        return FUNCTIONS["sigmoid"].evaluate(product)
    powers = np.exp(product - product.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def chosen_experts(op: Moe, scores: Array, bias: Array | None) -> Array:
    """Return the experts of each token, best first, int64 (tokens, active)."""
    ranked = scores if bias is None else scores + bias
    if op.active_groups < op.groups:
        grouped = ranked.reshape(len(ranked), op.groups, -1)
        best = np.sort(grouped, axis=-1)[..., -2:].sum(axis=-1)
        kept = np.argsort(-best, axis=-1, kind="stable")[:, : op.active_groups]
        open_groups = np.zeros(best.shape, bool)
        np.put_along_axis(open_groups, kept, True, axis=-1)
        ranked = np.where(open_groups[..., None], grouped, -np.inf).reshape(ranked.shape)
    return np.argsort(-ranked, axis=-1, kind="stable")[:, : op.active]


def token_weights(op: Moe, scores: Array, chosen: Array) -> Array:
    """Return the weight of each chosen expert (tokens, active)."""
    weights = np.take_along_axis(scores, chosen, axis=-1)
    if op.normalize:
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights * scores.dtype.type(op.scale))


def routing(op: Moe, arrays: Sequence[Array]) -> Array:
    """Return the experts that each token takes, best first, int64 (tokens, active)."""
    tokens = arrays[0].reshape(-1, arrays[0].shape[-1])
    with np.errstate(all="ignore"):
        return chosen_experts(op, scores_of(op, tokens @ arrays[1]), _bias(op, arrays))


def _bias(op: Moe, arrays: Sequence[Array]) -> Array | None:
    """Return what moves the choice of experts; in reverse the gradient is the last operand."""
    given = len(arrays) - isinstance(op, MoeGrad)
    return arrays[5] if given > 5 else None


def _forward(op: Moe, arrays: Sequence[Array]) -> tuple[Array, ...]:
    x, router, gate, up, down = arrays[:5]
    tokens = x.reshape(-1, x.shape[-1])
    scores = scores_of(op, tokens @ router)
    chosen = chosen_experts(op, scores, _bias(op, arrays))
    weights = token_weights(op, scores, chosen)
    result = np.zeros_like(tokens)
    for expert in range(router.shape[1]):
        rows, places = np.nonzero(chosen == expert)
        if len(rows):
            read = tokens[rows]
            hidden = FUNCTIONS[op.fn].evaluate(read @ gate[expert]) * (read @ up[expert])
            result[rows] += weights[rows, places, None] * (hidden @ down[expert])
    return (result.reshape(x.shape),)


def _reverse(op: MoeGrad, arrays: Sequence[Array]) -> tuple[Array, ...]:
    x, router, gate, up, down = arrays[:5]
    tokens, given = x.reshape(-1, x.shape[-1]), arrays[-1].reshape(-1, x.shape[-1])
    product = tokens @ router
    scores = scores_of(op, product)
    chosen = chosen_experts(op, scores, _bias(op, arrays))
    weights = token_weights(op, scores, chosen)
    d_x, d_weights = np.zeros_like(tokens), np.zeros_like(weights)
    d_gate, d_up, d_down = np.zeros_like(gate), np.zeros_like(up), np.zeros_like(down)
    for expert in range(router.shape[1]):
        rows, places = np.nonzero(chosen == expert)
        if not len(rows):
            continue
        read, gradient, weight = tokens[rows], given[rows], weights[rows, places, None]
        before, raised = read @ gate[expert], read @ up[expert]
        passed = FUNCTIONS[op.fn].evaluate(before)
        hidden = passed * raised
        d_weights[rows, places] = np.sum(gradient * (hidden @ down[expert]), axis=-1)
        d_down[expert] = (weight * hidden).T @ gradient
        d_hidden = (weight * gradient) @ down[expert].T
        d_before = d_hidden * raised * slope(op.fn, before)
        d_raised = d_hidden * passed
        d_gate[expert], d_up[expert] = read.T @ d_before, read.T @ d_raised
        d_x[rows] += d_before @ gate[expert].T + d_raised @ up[expert].T
    d_product = _router_gradient(op, scores, chosen, d_weights)
    d_x += d_product @ router.T
    return (d_x.reshape(x.shape), tokens.T @ d_product, d_gate, d_up, d_down)


def _router_gradient(op: Moe, scores: Array, chosen: Array, d_weights: Array) -> Array:
    """Return the gradient of the router's product from that of the weights."""
    picked = np.take_along_axis(scores, chosen, axis=-1)
    d_picked = d_weights * scores.dtype.type(op.scale)
    if op.normalize:
        total = picked.sum(axis=-1, keepdims=True)
        share = picked / total
        d_picked = (d_picked - np.sum(d_picked * share, axis=-1, keepdims=True)) / total
    d_scores = np.zeros_like(scores)
    np.put_along_axis(d_scores, chosen, d_picked, axis=-1)
    if op.scoring == "sigmoid":
        return np.asarray(d_scores * scores * (1 - scores))
    return np.asarray(scores * (d_scores - np.sum(d_scores * scores, axis=-1, keepdims=True)))


def evaluate(op: Moe, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Compute the mixture, or its gradients, in the dtype of x."""
    with np.errstate(all="ignore"):
        if isinstance(op, MoeGrad):
            return _reverse(op, arrays)
        return _forward(op, arrays)
