"""A GPT-2 style decoder written with ONNX operators; the two decoder demos size it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx

from .writing import ModelWriter, float_info, integer_info


@dataclass(frozen=True, slots=True)
class DecoderSize:
    """The sides of a decoder."""

    layers: int
    width: int
    """features of a token"""
    heads: int
    vocabulary: int
    positions: int
    """rows of the position table"""
    tokens: int
    """length of the sequence the model is written for, at most `positions`"""


def write_decoder(name: str, size: DecoderSize, writer: ModelWriter) -> onnx.ModelProto:
    """Write token ids (1, tokens) to logits (1, tokens, vocabulary), the embedding tied."""
    table = writer.weight("wte", (size.vocabulary, size.width), 0.05)
    positions = writer.weight("wpe", (size.positions, size.width), 0.05)
    where = writer.constant("positions", np.arange(size.tokens, dtype=np.int64)[None])
    words = writer.node("Gather", [table, "ids"], "embed/token", axis=0)
    places = writer.node("Gather", [positions, where], "embed/position", axis=0)
    x = writer.node("Add", [words, places], "embed")
    for layer in range(size.layers):
        x = _block(x, f"h{layer}", size, writer)
    x = writer.layer_norm(x, "ln_f", size.width)
    turned = writer.node("Transpose", [table], "wte.T", perm=[1, 0])
    writer.node("MatMul", [x, turned], "logits")
    outputs = [float_info("logits", 1, size.tokens, size.vocabulary)]
    return writer.model(name, [integer_info("ids", 1, size.tokens)], outputs)


def _block(x: str, name: str, size: DecoderSize, writer: ModelWriter) -> str:
    attended = _attention(writer.layer_norm(x, f"{name}/ln_1", size.width), name, size, writer)
    x = writer.node("Add", [x, attended], f"{name}/residual_1")
    inner = writer.layer_norm(x, f"{name}/ln_2", size.width)
    inner = writer.linear(inner, f"{name}/mlp/fc", (size.width, 4 * size.width))
    inner = writer.node("Gelu", [inner], f"{name}/mlp/gelu", approximate="tanh")
    inner = writer.linear(inner, f"{name}/mlp/proj", (4 * size.width, size.width))
    return writer.node("Add", [x, inner], f"{name}/residual_2")


def _attention(x: str, block: str, size: DecoderSize, writer: ModelWriter) -> str:
    name, depth = f"{block}/attn", size.width // size.heads
    heads = writer.integers("heads.shape", 1, size.tokens, size.heads, depth)
    whole = writer.integers("tokens.shape", 1, size.tokens, size.width)
    turned = {}
    for part, perm in (("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3))):
        flat = writer.linear(x, f"{name}/{part}", (size.width, size.width))
        split = writer.node("Reshape", [flat, heads], f"{name}/{part}/heads")
        turned[part] = writer.node("Transpose", [split], f"{name}/{part}/turned", perm=perm)
    scores = writer.node("MatMul", [turned["q"], turned["k"]], f"{name}/scores")
    scale = writer.constant("attention.scale", np.asarray(depth**-0.5, np.float32))
    scores = writer.node("Mul", [scores, scale], f"{name}/scaled")
    ahead = np.triu(np.ones((size.tokens, size.tokens), dtype=bool), 1)
    mask = writer.constant("attention.ahead", ahead)
    never = writer.constant("attention.never", np.asarray(-1e9, np.float32))
    scores = writer.node("Where", [mask, never, scores], f"{name}/masked")
    weights = writer.node("Softmax", [scores], f"{name}/softmax", axis=-1)
    mixed = writer.node("MatMul", [weights, turned["v"]], f"{name}/mixed")
    joined = writer.node("Transpose", [mixed], f"{name}/joined", perm=(0, 2, 1, 3))
    joined = writer.node("Reshape", [joined, whole], f"{name}/flat")
    return writer.linear(joined, f"{name}/proj", (size.width, size.width))
