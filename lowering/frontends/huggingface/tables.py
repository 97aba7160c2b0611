"""GPT-2 and BERT: tables of positions, layer norms, biases everywhere."""

from __future__ import annotations

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields
from lowering.frontends.huggingface.common import activation, head_dim, optional
from lowering.frontends.transformer import Architecture


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
        head_dim=head_dim(fields, width, heads),
        inner=optional(fields, "n_inner", "intermediate_size", other=4 * width),
        fn=activation(fields, "activation_function", "hidden_act", default="gelu_new"),
        norm="layer",
        epsilon=fields.number("layer_norm_epsilon", default=1e-5, above=0),
        position="learned",
        positions=fields.integer("n_positions", "max_position_embeddings", default=1024),
        qkv_bias=True,
        out_bias=True,
        inner_bias=True,
        tied=fields.flag("tie_word_embeddings", default=True),
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
        head_dim=head_dim(fields, width, heads),
        inner=fields.integer("intermediate_size", default=3072),
        fn=activation(fields, "hidden_act", default="gelu"),
        norm="layer",
        epsilon=fields.number("layer_norm_eps", default=1e-12, above=0),
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
