"""The fields of each model type, with Hugging Face's defaults, as sides of a transformer."""

from __future__ import annotations

from dataclasses import replace

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields
from lowering.frontends.transformer import Architecture, Experts, Latent, RopeScaling

_ACTIVATIONS = {
    "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh", "silu": "silu", "swish": "silu", "relu": "relu", "tanh": "tanh",
}  # fmt: skip
UNDERSTOOD = frozenset(
    [
        "_attn_implementation",
        "_name_or_path",
        "activation_dropout",
        "add_cross_attention",
        "architectures",
        "attention_dropout",
        "attention_probs_dropout_prob",
        "attn_pdrop",
        "aux_loss_alpha",
        "auto_map",
        "bad_words_ids",
        "bos_token_id",
        "chunk_size_feed_forward",
        "classifier_dropout",
        "cross_attention_hidden_size",
        "decoder_start_token_id",
        "dtype",
        "embd_pdrop",
        "eos_token_id",
        "ep_size",
        "finetuning_task",
        "gradient_checkpointing",
        "hidden_dropout_prob",
        "id2label",
        "initializer_range",
        "is_decoder",
        "is_encoder_decoder",
        "label2id",
        "layer_norm_eps",
        "layer_norm_epsilon",
        "max_position_embeddings",
        "moe_layer_freq",
        "n_ctx",
        "num_nextn_predict_layers",
        "num_key_value_heads",
        "output_attentions",
        "output_hidden_states",
        "output_router_logits",
        "pad_token_id",
        "position_embedding_type",
        "pretraining_tp",
        "problem_type",
        "pruned_heads",
        "quantization_config",
        "reorder_and_upcast_attn",
        "resid_pdrop",
        "return_dict",
        "rope_interleave",
        "router_aux_loss_coef",
        "router_jitter_noise",
        "scale_attn_by_inverse_layer_idx",
        "scale_attn_weights",
        "sep_token_id",
        "seq_aux",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
        "task_specific_params",
        "tie_encoder_decoder",
        "torch_dtype",
        "torchscript",
        "topk_method",
        "transformers_version",
        "type_vocab_size",
        "use_cache",
        "use_return_dict",
        "head_dim",
        "scoring_func",
    ]
)
"""fields without effect on the graph of any model type"""


def gpt2(fields: Fields) -> Architecture:
    """Read GPT-2, and GPT-3 of the same class."""
    width = fields.integer("n_embd", "hidden_size", default=768)
    heads = fields.integer("n_head", "num_attention_heads", default=12)
    for name in ("scale_attn_by_inverse_layer_idx", "add_cross_attention"):
        if fields.flag(name):
            raise ModelImportError(f"{fields.where}: {name} true is not covered; export to ONNX")
    return Architecture(
        family="gpt2",
        vocabulary=fields.integer("vocab_size", default=50257),
        width=width,
        layers=fields.integer("n_layer", "num_hidden_layers", default=12),
        heads=heads,
        kv_heads=heads,
        head_dim=_head_dim(fields, width, heads),
        inner=_optional(fields, "n_inner", "intermediate_size", other=4 * width),
        fn=_activation(fields, "activation_function", "hidden_act", default="gelu_new"),
        norm="layer",
        epsilon=fields.number("layer_norm_epsilon", default=1e-5),
        position="learned",
        positions=fields.integer("n_positions", "max_position_embeddings", default=1024),
        qkv_bias=True,
        out_bias=True,
        inner_bias=True,
        tied=fields.flag("tie_word_embeddings", default=True),
    )


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
    window = _optional(fields, "sliding_window", other=0)
    return replace(sides, experts=experts, window=window)


def _llama_like(
    fields: Fields, family: str, *, inner: int, kv_heads: int | None, epsilon: float, theta: float
) -> Architecture:
    width = fields.integer("hidden_size", "n_embd", default=4096)
    heads = fields.integer("num_attention_heads", "n_head", default=32)
    bias = fields.flag("attention_bias")
    stretched, theta = _rope(fields, theta)
    return Architecture(
        family=family,
        vocabulary=fields.integer("vocab_size", default=32000),
        width=width,
        layers=fields.integer("num_hidden_layers", "n_layer", default=32),
        heads=heads,
        kv_heads=_optional(fields, "num_key_value_heads", other=kv_heads or heads),
        head_dim=_head_dim(fields, width, heads),
        inner=fields.integer("intermediate_size", "n_inner", default=inner),
        fn=_activation(fields, "hidden_act", "activation_function", default="silu"),
        gated=True,
        epsilon=fields.number("rms_norm_eps", default=epsilon),
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
    stretched, theta = _rope(fields, 10000.0)
    return Architecture(
        family="deepseek_v3",
        vocabulary=fields.integer("vocab_size", default=129280),
        width=fields.integer("hidden_size", default=7168),
        layers=fields.integer("num_hidden_layers", default=61),
        heads=heads,
        kv_heads=heads,
        head_dim=latent.nope + latent.rope,
        inner=fields.integer("intermediate_size", default=18432),
        fn=_activation(fields, "hidden_act", default="silu"),
        gated=True,
        epsilon=fields.number("rms_norm_eps", default=1e-6),
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
        shared=_optional(fields, "n_shared_experts", other=1, low=0),
        first=fields.integer("first_k_dense_replace", default=3, low=0),
        every=_optional(fields, "moe_layer_freq", other=1),
        scoring=fields.text("scoring_func", default="sigmoid"),
        bias=True,
        normalize=fields.flag("norm_topk_prob", default=True),
        scale=fields.number("routed_scaling_factor", default=2.5),
        groups=fields.integer("n_group", default=8),
        active_groups=fields.integer("topk_group", default=4),
    )


def bert(fields: Fields) -> Architecture:
    """Read BERT's encoder with its pooler, without a head for a task."""
    width = fields.integer("hidden_size", default=768)
    heads = fields.integer("num_attention_heads", default=12)
    habit = fields.text("position_embedding_type", default="absolute")
    if habit != "absolute" or fields.flag("is_decoder"):
        raise ModelImportError(
            f"{fields.where}: a BERT with position_embedding_type '{habit}' or as a decoder is "
            "not covered; export it to ONNX"
        )
    return Architecture(
        family="bert",
        vocabulary=fields.integer("vocab_size", default=30522),
        width=width,
        layers=fields.integer("num_hidden_layers", default=12),
        heads=heads,
        kv_heads=heads,
        head_dim=_head_dim(fields, width, heads),
        inner=fields.integer("intermediate_size", default=3072),
        fn=_activation(fields, "hidden_act", default="gelu"),
        norm="layer",
        epsilon=fields.number("layer_norm_eps", default=1e-12),
        position="learned",
        positions=fields.integer("max_position_embeddings", default=512),
        qkv_bias=True,
        out_bias=True,
        inner_bias=True,
        head=False,
        causal=False,
        post_norm=True,
        embed_norm=True,
        token_types=fields.integer("type_vocab_size", default=2),
        pooler=True,
    )


def _optional(fields: Fields, *names: str, other: int, low: int = 1) -> int:
    """Return a field that may be absent or null, which then means `other`."""
    found = fields.integer(*names, default=other, low=low) if fields.has(*names) else other
    fields.ignore(*names)
    return found


def _head_dim(fields: Fields, width: int, heads: int) -> int:
    if fields.has("head_dim"):
        return fields.integer("head_dim")
    if width % heads:
        raise ModelImportError(
            f"{fields.where}: hidden size {width} is not a multiple of {heads} heads, and there "
            "is no head_dim"
        )
    return width // heads


def _activation(fields: Fields, *names: str, default: str) -> str:
    found = fields.text(*names, default=default)
    if found not in _ACTIVATIONS:
        raise ModelImportError(
            f"{fields.where}: {names[0]} '{found}' is unknown; known: {', '.join(_ACTIVATIONS)}"
        )
    return _ACTIVATIONS[found]


def _rope(fields: Fields, default: float) -> tuple[RopeScaling | None, float]:
    """Return (scaling, theta) from rope_scaling and rope_theta, or from rope_parameters."""
    found = fields.mapping("rope_parameters", "rope_scaling")
    theta = fields.number("rope_theta") if fields.has("rope_theta") else None
    fields.ignore("rope_theta", "rope_parameters", "rope_scaling")
    if found is None:
        return None, theta or default
    inner = found.number("rope_theta") if found.has("rope_theta") else theta or default
    if theta is not None and inner != theta:
        raise ModelImportError(
            f"{fields.where}: rope_theta is {theta} and in rope_parameters {inner}; keep one"
        )
    kind = found.text("rope_type", "type", default="default")
    if kind == "default":
        return None, inner
    original = _optional(found, "original_max_position_embeddings", other=8192)
    scaling = RopeScaling(
        kind,
        found.number("factor", default=1.0),
        found.number("low_freq_factor", default=1.0),
        found.number("high_freq_factor", default=4.0),
        original,
    )
    if scaling.factor <= 0 or (kind == "llama3" and scaling.low_factor >= scaling.high_factor):
        raise ModelImportError(
            f"{found.where}: factor {scaling.factor} must be above 0, and low_freq_factor "
            f"{scaling.low_factor} below high_freq_factor {scaling.high_factor}"
        )
    return scaling, inner
