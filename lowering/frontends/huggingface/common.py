"""What the field readers of all model types share. Knows no model type."""

from __future__ import annotations

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields

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
        "cache_implementation",
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
        "sliding_window_size",
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
UNDERSTOOD_OF_ROPE = frozenset(
    [
        "attention_factor", "beta_fast", "beta_slow", "factor", "high_freq_factor", "long_factor",
        "low_freq_factor", "mscale", "mscale_all_dim", "original_max_position_embeddings",
        "rope_theta", "rope_type", "short_factor", "truncate", "type",
    ]
)  # fmt: skip
"""fields of `rope_scaling` and `rope_parameters`; which of them have numbers depends on the kind"""


def optional(fields: Fields, *names: str, other: int, low: int = 1) -> int:
    """Return a field that may be absent or null, which then means `other`."""
    found = fields.integer(*names, default=other, low=low) if fields.has(*names) else other
    fields.ignore(*names)
    return found


def head_dim(fields: Fields, width: int, heads: int) -> int:
    if fields.has("head_dim"):
        return fields.integer("head_dim")
    if width % heads:
        raise ModelImportError(
            f"{fields.where}: hidden size {width} is not a multiple of {heads} heads, and there "
            "is no head_dim"
        )
    return width // heads


def activation(fields: Fields, *names: str, default: str) -> str:
    found = fields.text(*names, default=default)
    if found not in _ACTIVATIONS:
        raise ModelImportError(
            f"{fields.where}: {names[0]} '{found}' is unknown; known: {', '.join(_ACTIVATIONS)}"
        )
    return _ACTIVATIONS[found]
