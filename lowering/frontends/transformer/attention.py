"""Attention with grouped queries: projections, positions, scores, softmax, cache.

Queries that share a key head are rows of one product, so a key is read once for all of them.
"""

from __future__ import annotations

import math

import numpy as np

from engine.kernels.reduce.spec import Softmax
from lowering.frontends.transformer.architecture import Architecture
from lowering.frontends.transformer.options import Workload
from lowering.frontends.transformer.rope import alibi_slopes, rotary_tables, rotate
from lowering.frontends.transformer.writer import DTYPE, Writer


class Cache:
    """Keys and values kept between steps, as inputs and outputs of the graph."""

    def __init__(self) -> None:
        self.inputs: list[str] = []
        self.outputs: list[str] = []

    def extend(self, pen: Writer, name: str, new: str, cached: int, axis: int) -> str:
        """Return the cached rows and then the new ones; without a cache the new ones alone."""
        if not cached:
            return new
        shape = list(pen.shape(new))
        shape[axis] = cached
        past = pen.builder.add_value(f"{name}/cache", shape, DTYPE).name
        self.inputs.append(past)
        self.outputs.append(new)
        return pen.concat(f"{name}/all", [past, new], axis)


def attention(
    pen: Writer, name: str, x: str, sides: Architecture, load: Workload, cache: Cache
) -> str:
    """Return the attention of x (batch, tokens, width), projected back to its shape."""
    q = _heads(pen, f"{name}/q", x, sides.heads, sides, load)
    k = _heads(pen, f"{name}/k", x, sides.kv_heads, sides, load)
    v = _heads(pen, f"{name}/v", x, sides.kv_heads, sides, load)
    if sides.position == "rotary":
        tables = rotary_tables(pen, sides, load.cached, load.tokens)
        q = rotate(pen, f"{name}/q/rope", q, tables)
        k = rotate(pen, f"{name}/k/rope", k, tables)
    divisor = math.sqrt(sides.query_size or sides.head_dim)
    q = pen.map("mul", f"{name}/q/scaled", q, pen.number(1 / divisor))
    k = cache.extend(pen, f"{name}/k", k, load.cached, 2)
    v = cache.extend(pen, f"{name}/v", v, load.cached, 2)
    shared = sides.heads // sides.kv_heads
    rows = shared * load.tokens
    q = pen.reshape(f"{name}/q/shared", q, load.batch, sides.kv_heads, rows, sides.head_dim)
    turned = pen.transpose(f"{name}/k/turned", k, 0, 1, 3, 2)
    scores = pen.matmul(f"{name}/scores", q, turned, "AttentionScores")
    weights = _softmax(pen, name, scores, sides, load)
    mixed = pen.matmul(f"{name}/mixed", weights, v, "AttentionValues")
    return project(pen, name, mixed, sides, load, sides.head_dim)


def _heads(pen: Writer, name: str, x: str, heads: int, sides: Architecture, load: Workload) -> str:
    """Return a projection of x as (batch, heads, tokens, features)."""
    flat = pen.linear(name, x, heads * sides.head_dim, bias=sides.qkv_bias)
    split = pen.reshape(f"{name}/heads", flat, load.batch, load.tokens, heads, sides.head_dim)
    return pen.transpose(f"{name}/by_head", split, 0, 2, 1, 3)


def _softmax(pen: Writer, name: str, scores: str, sides: Architecture, load: Workload) -> str:
    """Return the weights of scores (batch, kv heads, shared x tokens, attended)."""
    flat = pen.shape(scores)
    whole = (load.batch, sides.kv_heads, sides.heads // sides.kv_heads, load.tokens, load.attended)
    scores = pen.reshape(f"{name}/scores/rows", scores, *whole)
    scores = pen.capped(f"{name}/scores/capped", scores, sides.score_cap)
    if sides.position == "alibi":
        slopes = alibi_slopes(sides.heads).reshape(1, sides.kv_heads, -1, 1, 1)
        ramp = (slopes * np.arange(load.attended)).astype(DTYPE)
        scores = pen.add(f"{name}/scores/alibi", scores, pen.constant("alibi", ramp))
    weights = softmax(pen, f"{name}/softmax", scores, sides, load)
    return pen.reshape(f"{name}/softmax/rows", weights, *flat)


def softmax(pen: Writer, name: str, scores: str, sides: Architecture, load: Workload) -> str:
    """Return the softmax of scores (..., tokens, attended); a lone new token sees everything."""
    axis = len(pen.shape(scores)) - 1
    window = sides.window if sides.window < load.attended else 0
    causal = sides.causal and (load.tokens > 1 or window > 0)
    return pen.emit(
        Softmax, name, "Softmax", scores, axis=axis, causal=causal, window=window if causal else 0
    )


def project(
    pen: Writer, name: str, mixed: str, sides: Architecture, load: Workload, features: int
) -> str:
    """Join the heads of mixed (batch, ..., tokens, features) and project them to the width."""
    split = pen.reshape(
        f"{name}/mixed/heads", mixed, load.batch, sides.heads, load.tokens, features
    )
    joined = pen.transpose(f"{name}/mixed/by_token", split, 0, 2, 1, 3)
    flat = pen.reshape(
        f"{name}/mixed/flat", joined, load.batch, load.tokens, sides.heads * features
    )
    return pen.linear(f"{name}/out", flat, sides.width, bias=sides.out_bias)
