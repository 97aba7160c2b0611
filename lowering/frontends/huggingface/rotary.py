"""Llama, Mixtral and DeepSeek-V3: rotary positions, RMS norms, gated layers, experts."""

from __future__ import annotations

from dataclasses import replace

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields
from lowering.frontends.huggingface.common import activation, head_dim, optional
from lowering.frontends.transformer import Architecture, Experts, Latent, RopeScaling


def llama(fields: Fields) -> Architecture:
    """Read Llama 1 to 3."""
    return _llama_like(fields, "llama", inner=11008, kv_heads=None, epsilon=1e-6, theta=1e4)


def mixtral(fields: Fields) -> Architecture:
    """Read Mixtral."""
    sides = _llama_like(fields, "mixtral", inner=14336, kv_heads=8, epsilon=1e-5, theta=1e6)
    experts = Experts(
        count=fields.integer("num_local_experts", default=8),
        active=fields.integer("num_experts_per_tok", default=2),
        inner=sides.inner,
    )
    window = optional(fields, "sliding_window", other=0)
    return replace(sides, experts=experts, window=window)


def _llama_like(
    fields: Fields, family: str, *, inner: int, kv_heads: int | None, epsilon: float, theta: float
) -> Architecture:
    width = fields.integer("hidden_size", "n_embd", default=4096)
    heads = fields.integer("num_attention_heads", "n_head", default=32)
    bias = fields.flag("attention_bias")
    stretched, theta = rope(fields, theta)
    return Architecture(
        family=family,
        vocabulary=fields.integer("vocab_size", default=32000),
        width=width,
        layers=fields.integer("num_hidden_layers", "n_layer", default=32),
        heads=heads,
        kv_heads=optional(fields, "num_key_value_heads", other=kv_heads or heads),
        head_dim=head_dim(fields, width, heads),
        inner=fields.integer("intermediate_size", "n_inner", default=inner),
        fn=activation(fields, "hidden_act", "activation_function", default="silu"),
        gated=True,
        epsilon=fields.number("rms_norm_eps", default=epsilon, above=0),
        rope_theta=theta,
        scaling=stretched,
        qkv_bias=bias,
        out_bias=bias,
        inner_bias=fields.flag("mlp_bias"),
        tied=fields.flag("tie_word_embeddings"),
    )


def deepseek_v3(fields: Fields) -> Architecture:
    """Read DeepSeek-V3 without its extra prediction layer."""
    heads = fields.integer("num_attention_heads", default=128)
    latent = Latent(
        q_rank=fields.integer("q_lora_rank", low=0) if fields.has("q_lora_rank") else 0,
        kv_rank=fields.integer("kv_lora_rank", default=512),
        nope=fields.integer("qk_nope_head_dim", default=128),
        rope=fields.integer("qk_rope_head_dim", default=64),
        value=fields.integer("v_head_dim", default=128),
    )
    fields.ignore("q_lora_rank", "head_dim", "num_key_value_heads")
    stretched, theta = rope(fields, 10000.0)
    return Architecture(
        family="deepseek_v3",
        vocabulary=fields.integer("vocab_size", default=129280),
        width=fields.integer("hidden_size", default=7168),
        layers=fields.integer("num_hidden_layers", default=61),
        heads=heads,
        kv_heads=heads,
        head_dim=latent.nope + latent.rope,
        inner=fields.integer("intermediate_size", default=18432),
        fn=activation(fields, "hidden_act", default="silu"),
        gated=True,
        epsilon=fields.number("rms_norm_eps", default=1e-6, above=0),
        rope_theta=theta,
        scaling=stretched,
        qkv_bias=fields.flag("attention_bias"),
        out_bias=fields.flag("attention_bias"),
        tied=fields.flag("tie_word_embeddings"),
        experts=_deepseek_experts(fields),
        latent=latent,
    )


def _deepseek_experts(fields: Fields) -> Experts:
    return Experts(
        count=fields.integer("n_routed_experts", default=256),
        active=fields.integer("num_experts_per_tok", default=8),
        inner=fields.integer("moe_intermediate_size", default=2048),
        shared=optional(fields, "n_shared_experts", other=1, low=0),
        first=fields.integer("first_k_dense_replace", default=3, low=0),
        every=optional(fields, "moe_layer_freq", other=1),
        scoring=fields.text("scoring_func", default="sigmoid"),
        bias=True,
        normalize=fields.flag("norm_topk_prob", default=True),
        scale=fields.number("routed_scaling_factor", default=2.5),
        groups=fields.integer("n_group", default=8),
        active_groups=fields.integer("topk_group", default=4),
    )


def rope(fields: Fields, default: float) -> tuple[RopeScaling | None, float]:
    """Return (scaling, theta) from rope_scaling and rope_theta, or from rope_parameters."""
    found = fields.mapping("rope_parameters", "rope_scaling")
    theta = fields.number("rope_theta", above=0) if fields.has("rope_theta") else None
    fields.ignore("rope_theta", "rope_parameters", "rope_scaling")
    if found is None:
        return None, theta or default
    inner = found.number("rope_theta", above=0) if found.has("rope_theta") else theta or default
    if theta is not None and inner != theta:
        raise ModelImportError(
            f"{fields.where}: rope_theta is {theta} and in rope_parameters {inner}; keep one"
        )
    kind = found.text("rope_type", "type", default="default")
    if kind == "default":
        return None, inner
    return _scaling(found, kind), inner


def _scaling(found: Fields, kind: str) -> RopeScaling:
    factor = found.number("factor", default=1.0, above=0)
    if kind != "llama3":
        return RopeScaling(kind, factor)
    low = found.number("low_freq_factor", default=1.0)
    high = found.number("high_freq_factor", default=4.0)
    if low >= high:
        raise ModelImportError(
            f"{found.where}: low_freq_factor {low} must be below high_freq_factor {high}"
        )
    original = optional(found, "original_max_position_embeddings", other=8192)
    return RopeScaling(kind, factor, low, high, original)
