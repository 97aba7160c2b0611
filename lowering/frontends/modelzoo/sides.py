"""The fields of the Model Zoo's language models as sides of a transformer.

Defaults are those of the Zoo's GPT-2 class, from which its decoders derive.
"""

from __future__ import annotations

import math

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields
from lowering.frontends.transformer import Architecture, Experts, RopeScaling

PARALLEL = ("gptj", "gpt-j", "gpt-neox", "falcon")
"""models whose attention and feed-forward part are added together"""
DECODERS = (
    *PARALLEL, "gpt2", "gpt3", "llama", "mistral", "mixtral", "bloom", "btlm", "gemma2", "jais",
    "mpt", "opt", "santacoder", "starcoder", "cerebras_gpt", "lambda",
)  # fmt: skip
ENCODERS = ("bert",)
_GATED = {"swiglu": "silu", "geglu": "gelu", "reglu": "relu"}
_PLAIN = {
    "gelu": "gelu", "gelu_new": "gelu_tanh", "quick_gelu": "gelu_tanh", "silu": "silu",
    "swish": "silu", "relu": "relu", "tanh": "tanh",
}  # fmt: skip
_NORMS = {
    "layernorm": "layer", "layer": "layer", "rmsnorm": "rms", "biasless-layernorm": "layer-no-bias",
}  # fmt: skip
_POSITIONS = {
    "learned": "learned", "rotary": "rotary", "alibi": "alibi", "fixed": "sinusoidal",
    "none": "none",
}  # fmt: skip


def language_model(fields: Fields) -> Architecture:
    """Return the sides of a language model of the Zoo.

    Raises ModelImportError for another kind of model, or one with parts that are not covered.
    """
    name = fields.text("name").lower()
    base = name.split("/")[0]
    if base in ENCODERS:
        return _encoder(fields)
    if base not in DECODERS:
        raise ModelImportError(
            f"{fields.where}: model '{name}' cannot be built from its config; "
            f"{', '.join(sorted({*DECODERS, *ENCODERS}))} and fc_mnist can. Export it to ONNX"
        )
    return _decoder(fields, base)


def _decoder(fields: Fields, name: str) -> Architecture:
    width = fields.integer("hidden_size")
    heads = fields.integer("num_heads")
    fn, gated = _nonlinearity(fields, "nonlinearity")
    inner = fields.integer("filter_size")
    position = _choice(fields, "position_embedding_type", _POSITIONS, "learned")
    untied = fields.flag("use_untied_layer_norm")
    layers = fields.integer("num_hidden_layers")
    return Architecture(
        family=name,
        vocabulary=fields.integer("vocab_size"),
        width=width,
        layers=layers,
        heads=heads,
        kv_heads=_kv_heads(fields, heads),
        head_dim=_head_dim(fields, width, heads),
        inner=inner,
        fn=fn,
        gated=gated,
        norm=_choice(fields, "norm_type", _NORMS, "layernorm"),
        epsilon=fields.number("layer_norm_epsilon", default=1e-5, above=0),
        position=position,
        positions=fields.integer("max_position_embeddings"),
        rotary_dim=_rotary(fields, width // heads) if position == "rotary" else 0,
        rope_theta=fields.number("rope_theta", default=10000.0, above=0),
        scaling=_scaling(fields),
        qkv_bias=fields.flag("use_projection_bias_in_attention", default=True),
        out_bias=fields.flag("use_ffn_bias_in_attention", default=True),
        inner_bias=fields.flag("use_ffn_bias", default=True),
        head_bias=fields.flag("use_bias_in_output"),
        tied=fields.flag("share_embedding_weights", default=True),
        parallel=name in PARALLEL,
        own_norms=untied and name in PARALLEL,
        embed_norm=fields.flag("embedding_layer_norm"),
        embed_scale=fields.number("embeddings_scale", default=1.0, above=0),
        window=_positive(fields, "attention_sliding_window_length"),
        windowed=_windowed(fields, layers),
        sandwich=fields.flag("norm_first_sandwich"),
        score_cap=_cap(fields, "attention_logit_softcapping"),
        logit_cap=_cap(fields, "final_logit_softcapping"),
        experts=_experts(fields, inner),
    )


def _encoder(fields: Fields) -> Architecture:
    width, heads = fields.integer("hidden_size"), fields.integer("num_heads")
    fn, gated = _nonlinearity(fields, "encoder_nonlinearity", "nonlinearity")
    return Architecture(
        family="bert",
        vocabulary=fields.integer("vocab_size"),
        width=width,
        layers=fields.integer("num_hidden_layers"),
        heads=heads,
        kv_heads=heads,
        head_dim=_head_dim(fields, width, heads),
        inner=fields.integer("filter_size"),
        fn=fn,
        gated=gated,
        norm=_choice(fields, "norm_type", _NORMS, "layernorm"),
        epsilon=fields.number("layer_norm_epsilon", default=1e-5, above=0),
        position=_choice(fields, "position_embedding_type", _POSITIONS, "learned"),
        positions=fields.integer("max_position_embeddings"),
        qkv_bias=fields.flag("use_projection_bias_in_attention", default=True),
        out_bias=fields.flag("use_ffn_bias_in_attention", default=True),
        inner_bias=fields.flag("use_ffn_bias", default=True),
        head=False,
        causal=False,
        post_norm=True,
        embed_norm=True,
        token_types=0 if fields.flag("disable_nsp") else 2,
        pooler=not fields.flag("disable_nsp"),
    )


def _head_dim(fields: Fields, width: int, heads: int) -> int:
    inner = _positive(fields, "attention_inner_dim") or width
    if inner % heads:
        raise ModelImportError(
            f"{fields.where}: attention of {inner} features cannot have {heads} equal heads"
        )
    return inner // heads


def _kv_heads(fields: Fields, heads: int) -> int:
    module = fields.text("attention_module", default="aiayn_attention")
    extra = fields.mapping("extra_attention_params")
    if module == "aiayn_attention":
        return heads
    if module != "multiquery_attention":
        raise ModelImportError(
            f"{fields.where}: attention_module is '{module}', must be aiayn_attention or "
            "multiquery_attention"
        )
    return extra.integer("num_kv_groups", default=1) if extra else 1


def _nonlinearity(fields: Fields, *names: str) -> tuple[str, bool]:
    found = fields.text(*names, default="gelu")
    if found in _GATED:
        return _GATED[found], True
    if found not in _PLAIN:
        raise ModelImportError(
            f"{fields.where}: {names[0]} '{found}' is unknown; known: "
            f"{', '.join([*_PLAIN, *_GATED])}"
        )
    return _PLAIN[found], False


def _choice(fields: Fields, name: str, known: dict[str, str], default: str) -> str:
    found = fields.text(name, default=default).lower()
    if found not in known:
        raise ModelImportError(
            f"{fields.where}: {name} '{found}' is not covered; covered: {', '.join(known)}"
        )
    return known[found]


def _rotary(fields: Fields, head_dim: int) -> int:
    rotated = _positive(fields, "rotary_dim")
    if rotated > head_dim:
        raise ModelImportError(
            f"{fields.where}: rotary_dim {rotated} is larger than a head of {head_dim} features"
        )
    return rotated


def _scaling(fields: Fields) -> RopeScaling | None:
    factor = fields.number("pos_scaling_factor", default=1.0)
    extra = fields.mapping("pos_scaling_extra_args")
    kind = fields.text("pos_scaling_type", default="linear").lower()
    if factor == 1.0 or not math.isfinite(factor) or factor <= 0:
        return None
    if extra is None:
        return RopeScaling(kind, factor)
    return RopeScaling(
        kind,
        factor,
        extra.number("low_freq_factor", default=1.0),
        extra.number("high_freq_factor", default=4.0),
        extra.integer("original_max_position_embeddings", default=8192),
    )


def _positive(fields: Fields, name: str) -> int:
    return fields.integer(name) if fields.has(name) else 0


def _windowed(fields: Fields, layers: int) -> tuple[bool, ...]:
    """Return which layers have the window where only every other one has: 1, 3, 5 and so on.

    The Zoo gives its decoder a mask without and one with the window and says no order, which the
    decoder (cerebras.modelzoo.layers.TransformerDecoder, `full_attention_first`) takes as full
    attention in layer 0. Gemma 2 itself has it the other way round.
    """
    if not fields.flag("sliding_window_every_other_decoder_layer"):
        return ()
    if not _positive(fields, "attention_sliding_window_length"):
        raise ModelImportError(
            f"{fields.where}: sliding_window_every_other_decoder_layer needs "
            "attention_sliding_window_length, the tokens that such a layer looks back at"
        )
    return tuple(layer % 2 == 1 for layer in range(layers))


def _cap(fields: Fields, name: str) -> float:
    """Return a soft cap, 0 where there is none; the Zoo takes 0 as none too."""
    return fields.number(name, above=0) if fields.raw(name) else 0.0


def _experts(fields: Fields, inner: int) -> Experts | None:
    moe = fields.mapping("moe", "moe_params")
    if moe is None or not moe.has("num_experts") or moe.integer("num_experts") == 1:
        return None
    shared = moe.integer("num_shared_experts", low=0) if moe.has("num_shared_experts") else 0
    return Experts(
        moe.integer("num_experts"), moe.integer("top_k", default=1), inner, shared=shared
    )
