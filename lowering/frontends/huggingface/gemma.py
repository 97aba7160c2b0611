"""Gemma 2: norms on both sides of each part, soft caps, a window in some layers."""

from __future__ import annotations

import math

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields
from lowering.frontends.huggingface.common import activation
from lowering.frontends.huggingface.rotary import rope
from lowering.frontends.transformer import Architecture

_LAYER_TYPES = {"sliding_attention": True, "full_attention": False}
"""layer type: whether the window holds"""


def gemma2(fields: Fields) -> Architecture:
    """Read Gemma 2; a window or a cap that is null is none."""
    width = fields.integer("hidden_size", default=2304)
    layers = fields.integer("num_hidden_layers", default=26)
    bias = fields.flag("attention_bias")
    scaling, theta = rope(fields, 10000.0)
    if fields.flag("use_bidirectional_attention"):
        raise ModelImportError(
            f"{fields.where}: use_bidirectional_attention true is not covered; export to ONNX"
        )
    return Architecture(
        family="gemma2",
        vocabulary=fields.integer("vocab_size", default=256000),
        width=width,
        layers=layers,
        heads=fields.integer("num_attention_heads", default=8),
        kv_heads=fields.integer("num_key_value_heads", default=4),
        head_dim=fields.integer("head_dim", default=256),
        inner=fields.integer("intermediate_size", default=9216),
        fn=activation(fields, "hidden_activation", "hidden_act", default="gelu_pytorch_tanh"),
        gated=True,
        norm="rms-plus-one",
        epsilon=fields.number("rms_norm_eps", default=1e-6, above=0),
        rope_theta=theta,
        scaling=scaling,
        qkv_bias=bias,
        out_bias=bias,
        tied=fields.flag("tie_word_embeddings", default=True),
        window=_window(fields),
        windowed=_windowed(fields, layers),
        sandwich=True,
        score_cap=_cap(fields, "attn_logit_softcapping", 50.0),
        logit_cap=_cap(fields, "final_logit_softcapping", 30.0),
        embed_scale=math.sqrt(width),
        query_size=fields.number("query_pre_attn_scalar", default=256.0, above=0),
    )


def _is_null(fields: Fields, name: str) -> bool:
    if name not in fields.names() or fields.has(name):
        return False
    fields.ignore(name)
    return True


def _window(fields: Fields) -> int:
    if _is_null(fields, "sliding_window"):
        return 0
    return fields.integer("sliding_window", default=4096)


def _cap(fields: Fields, name: str, default: float) -> float:
    return 0.0 if _is_null(fields, name) else fields.number(name, default=default, above=0)


def _windowed(fields: Fields, layers: int) -> tuple[bool, ...]:
    """Return which layers have the window: as `layer_types` says, else 0, 2, 4 and so on."""
    found = fields.raw("layer_types")
    if found is None:
        return tuple(layer % 2 == 0 for layer in range(layers))
    if not isinstance(found, list) or len(found) != layers:
        count = f"{len(found)} of them" if isinstance(found, list) else repr(found)[:60]
        raise ModelImportError(
            f"{fields.where}: layer_types must list the type of each of {layers} layers, got "
            f"{count}"
        )
    for kind in found:
        if not isinstance(kind, str) or kind not in _LAYER_TYPES:
            raise ModelImportError(
                f"{fields.where}: layer_types has {repr(kind)[:60]}; known: "
                f"{', '.join(_LAYER_TYPES)}"
            )
    return tuple(_LAYER_TYPES[kind] for kind in found)
