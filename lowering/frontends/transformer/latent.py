"""Multi-head latent attention (DeepSeek-V2, 2024, section 2.1): low-rank queries, keys, values.

Prefill and training expand keys and values from the latent. Decode multiplies the queries by the
keys' projection instead and works on the cached latent itself (the paper's absorbed form), so a
step reads kv_rank + rope numbers a token and never expands the cache.
"""

from __future__ import annotations

import math

from lowering.frontends.transformer.architecture import Architecture, Latent
from lowering.frontends.transformer.attention import Cache, project, softmax
from lowering.frontends.transformer.options import Workload
from lowering.frontends.transformer.rope import rotary_tables, rotate
from lowering.frontends.transformer.writer import Writer


def latent_attention(
    pen: Writer, name: str, x: str, sides: Architecture, load: Workload, cache: Cache
) -> str:
    """Return the attention of x (batch, tokens, width), projected back to its shape."""
    latent = sides.latent
    assert latent is not None
    tables = rotary_tables(pen, sides, load.cached, load.tokens)
    q = _queries(pen, name, x, sides, latent, load)
    q_nope = pen.cut(f"{name}/q/nope", q, -1, 0, latent.nope)
    q_rope = pen.cut(f"{name}/q/rotary", q, -1, latent.nope, latent.nope + latent.rope)
    q_rope = rotate(pen, f"{name}/q/rope", q_rope, tables)
    down = pen.linear(f"{name}/kv_down", x, latent.kv_rank + latent.rope, bias=sides.qkv_bias)
    narrow = pen.cut(f"{name}/kv/narrow", down, -1, 0, latent.kv_rank)
    kept = pen.norm(f"{name}/kv_norm", narrow, "rms", sides.epsilon)
    k_rope = pen.cut(f"{name}/k/rotary", down, -1, latent.kv_rank, latent.kv_rank + latent.rope)
    k_rope = pen.reshape(f"{name}/k/rotary/head", k_rope, load.batch, 1, load.tokens, latent.rope)
    k_rope = rotate(pen, f"{name}/k/rope", k_rope, tables)
    kept = cache.extend(pen, f"{name}/latent", kept, load.cached, 1)
    k_rope = cache.extend(pen, f"{name}/k/rope", k_rope, load.cached, 2)
    turned = pen.transpose(f"{name}/k/rope/turned", k_rope, 0, 1, 3, 2)
    by_place = pen.matmul(f"{name}/scores/rope", q_rope, turned, "AttentionScores")
    form = _absorbed if load.cached else _expanded
    mixed = form(pen, name, (q_nope, kept, by_place), sides, load)
    return project(pen, name, mixed, sides, load, latent.value)


def _queries(
    pen: Writer, name: str, x: str, sides: Architecture, latent: Latent, load: Workload
) -> str:
    """Return scaled queries (batch, heads, tokens, nope + rope)."""
    features = latent.nope + latent.rope
    if latent.q_rank:
        x = pen.linear(f"{name}/q_down", x, latent.q_rank, bias=sides.qkv_bias)
        x = pen.norm(f"{name}/q_norm", x, "rms", sides.epsilon)
    flat = pen.linear(f"{name}/q", x, sides.heads * features)
    split = pen.reshape(f"{name}/q/heads", flat, load.batch, load.tokens, sides.heads, features)
    turned = pen.transpose(f"{name}/q/by_head", split, 0, 2, 1, 3)
    return pen.map("mul", f"{name}/q/scaled", turned, pen.number(1 / math.sqrt(features)))


def _expanded(
    pen: Writer, name: str, parts: tuple[str, str, str], sides: Architecture, load: Workload
) -> str:
    """Return the mixed values (batch, heads, tokens, value) of keys and values taken apart."""
    latent = sides.latent
    assert latent is not None
    q_nope, kept, by_place = parts
    features = latent.nope + latent.value
    flat = pen.linear(f"{name}/kv_up", kept, sides.heads * features)
    split = pen.reshape(f"{name}/kv/heads", flat, load.batch, load.attended, sides.heads, features)
    turned = pen.transpose(f"{name}/kv/by_head", split, 0, 2, 1, 3)
    k = pen.cut(f"{name}/k/nope", turned, -1, 0, latent.nope)
    v = pen.cut(f"{name}/v", turned, -1, latent.nope, features)
    k = pen.transpose(f"{name}/k/nope/turned", k, 0, 1, 3, 2)
    plain = pen.matmul(f"{name}/scores/nope", q_nope, k, "AttentionScores")
    scores = pen.add(f"{name}/scores", plain, by_place)
    scores = pen.capped(f"{name}/scores/capped", scores, sides.score_cap)
    weights = softmax(pen, f"{name}/softmax", scores, sides, load)
    return pen.matmul(f"{name}/mixed", weights, v, "AttentionValues")


def _absorbed(
    pen: Writer, name: str, parts: tuple[str, str, str], sides: Architecture, load: Workload
) -> str:
    """Return the mixed values from the latent itself: one key head for all queries."""
    latent = sides.latent
    assert latent is not None
    q_nope, kept, by_place = parts
    heads, rank, features = sides.heads, latent.kv_rank, latent.nope + latent.value
    up = pen.weight(f"{name}/kv_up/weight", rank, heads * features)
    up = pen.reshape(f"{name}/kv_up/heads", up, rank, heads, features)
    keys = pen.cut(f"{name}/kv_up/k", up, -1, 0, latent.nope)
    keys = pen.transpose(f"{name}/kv_up/k/turned", keys, 1, 2, 0)
    values = pen.cut(f"{name}/kv_up/v", up, -1, latent.nope, features)
    values = pen.transpose(f"{name}/kv_up/v/turned", values, 1, 0, 2)
    rows = (load.batch, 1, heads * load.tokens, rank)
    q = pen.matmul(f"{name}/q/latent", q_nope, keys, "Linear")
    q = pen.reshape(f"{name}/q/latent/rows", q, *rows)
    kept = pen.reshape(f"{name}/latent/head", kept, load.batch, 1, load.attended, rank)
    turned = pen.transpose(f"{name}/latent/turned", kept, 0, 1, 3, 2)
    plain = pen.matmul(f"{name}/scores/nope", q, turned, "AttentionScores")
    whole = (load.batch, heads, load.tokens, load.attended)
    plain = pen.reshape(f"{name}/scores/nope/heads", plain, *whole)
    scores = pen.add(f"{name}/scores", plain, by_place)
    scores = pen.capped(f"{name}/scores/capped", scores, sides.score_cap)
    weights = softmax(pen, f"{name}/softmax", scores, sides, load)
    weights = pen.reshape(
        f"{name}/softmax/rows", weights, load.batch, 1, heads * load.tokens, load.attended
    )
    mixed = pen.matmul(f"{name}/mixed/latent", weights, kept, "AttentionValues")
    mixed = pen.reshape(f"{name}/mixed/latent/heads", mixed, load.batch, heads, load.tokens, rank)
    return pen.matmul(f"{name}/mixed", mixed, values, "Linear")
