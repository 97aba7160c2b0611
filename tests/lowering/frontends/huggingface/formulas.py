"""Small models in plain numpy, written from their papers: what folders are compared with."""

from __future__ import annotations

import numpy as np

from engine.kernels.pointwise.functions import erf
from lowering.frontends.safetensors import TensorEntry


def norm(x: np.ndarray, scale: np.ndarray, bias: np.ndarray, epsilon: float) -> np.ndarray:
    """Layer normalisation of the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon)
    return np.asarray(centred / spread * scale + bias)


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax of the last axis."""
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def bert(config: dict[str, int], held: dict[str, TensorEntry], ids: np.ndarray) -> np.ndarray:
    """BERT's last hidden state (tokens, width) in float32, one head at a time."""
    w = {name: entry.array() for name, entry in held.items()}
    x = w["embeddings.word_embeddings.weight"][ids]
    x = x + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = x + w["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"], 1e-12)

    def dense(name: str, y: np.ndarray) -> np.ndarray:
        return y @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}"
        q, k, v = (dense(f"{at}.attention.self.{part}", x) for part in ("query", "key", "value"))
        size = config["hidden_size"] // config["num_attention_heads"]
        heads = [slice(i, i + size) for i in range(0, config["hidden_size"], size)]
        mixed = [softmax(q[:, h] @ k[:, h].T / np.sqrt(size)) @ v[:, h] for h in heads]
        y = x + dense(f"{at}.attention.output.dense", np.concatenate(mixed, 1))
        stem = f"{at}.attention.output.LayerNorm"
        x = norm(y, w[f"{stem}.weight"], w[f"{stem}.bias"], 1e-12)
        inner = dense(f"{at}.intermediate.dense", x)
        inner = inner * 0.5 * (1 + erf(inner / np.sqrt(2)))
        y = x + dense(f"{at}.output.dense", inner)
        x = norm(y, w[f"{at}.output.LayerNorm.weight"], w[f"{at}.output.LayerNorm.bias"], 1e-12)
    return x


def rms(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """RMS normalisation of the last axis."""
    return np.asarray(x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale)


def llama(w: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """One Llama or Mixtral layer (2 heads of 4, one key head), logits (tokens, 11)."""
    w = {name: array.astype(np.float64) for name, array in w.items()}
    at = "model.layers.0"
    x = w["model.embed_tokens.weight"][ids]
    y = rms(x, w[f"{at}.input_layernorm.weight"])
    q, k, v = (y @ w[f"{at}.self_attn.{part}_proj.weight"].T for part in "qkv")
    mixed = np.zeros_like(q)
    for t in range(len(ids)):
        for head in (slice(0, 4), slice(4, 8)):
            scores = [turned(q[t, head], t) @ turned(k[s], s) / 2 for s in range(t + 1)]
            mixed[t, head] = softmax(np.array(scores)) @ v[: t + 1]
    x = x + mixed @ w[f"{at}.self_attn.o_proj.weight"].T
    y = rms(x, w[f"{at}.post_attention_layernorm.weight"])
    fed = [fed_forward(w, at, row) for row in y]
    return np.asarray(rms(x + fed, w["model.norm.weight"]) @ w["lm_head.weight"].T)


def gemma2(w: dict[str, np.ndarray], ids: list[int], layers: int) -> np.ndarray:
    """Gemma 2 (4 heads of 4 on 2 key heads, window 2 in even layers), logits (tokens, 11)."""
    w = {name: array.astype(np.float64) for name, array in w.items()}

    def scaled(name: str, x: np.ndarray) -> np.ndarray:
        return rms(x, 1 + w[f"{name}.weight"])

    x = w["model.embed_tokens.weight"][ids] * np.sqrt(4)
    for layer in range(layers):
        at = f"model.layers.{layer}"
        y = scaled(f"{at}.input_layernorm", x)
        q, k, v = (y @ w[f"{at}.self_attn.{part}_proj.weight"].T for part in "qkv")
        mixed = np.zeros_like(q)
        for t in range(len(ids)):
            seen = range(max(0, t - 1) if layer % 2 == 0 else 0, t + 1)
            for head in range(4):
                mine, shared = (
                    slice(4 * head, 4 * head + 4),
                    slice(head // 2 * 4, head // 2 * 4 + 4),
                )
                scores = [turned(q[t, mine], t) @ turned(k[s, shared], s) / 4 for s in seen]
                weights = softmax(0.5 * np.tanh(np.array(scores) / 0.5))
                mixed[t, mine] = weights @ v[seen.start : t + 1, shared]
        out = mixed @ w[f"{at}.self_attn.o_proj.weight"].T
        x = x + scaled(f"{at}.post_attention_layernorm", out)
        y = scaled(f"{at}.pre_feedforward_layernorm", x)
        gate, up = (y @ w[f"{at}.mlp.{part}_proj.weight"].T for part in ("gate", "up"))
        gate = 0.5 * gate * (1 + np.tanh(np.sqrt(2 / np.pi) * (gate + 0.044715 * gate**3)))
        out = (gate * up) @ w[f"{at}.mlp.down_proj.weight"].T
        x = x + scaled(f"{at}.post_feedforward_layernorm", out)
    logits = scaled("model.norm", x) @ w["model.embed_tokens.weight"].T
    return np.asarray(2 * np.tanh(logits / 2))


def turned(x: np.ndarray, place: int) -> np.ndarray:
    """Turn the pairs (0, 2) and (1, 3) by place and place / 10 (theta 100)."""
    pairs = (x[:2] + 1j * x[2:]) * np.exp(1j * place * np.array([1.0, 0.1]))
    return np.concatenate([pairs.real, pairs.imag])


def fed_forward(w: dict[str, np.ndarray], at: str, y: np.ndarray) -> np.ndarray:
    """The gated layer, or the two best of four experts."""

    def gated(gate: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
        before = gate @ y
        return np.asarray(down @ (before / (1 + np.exp(-before)) * (up @ y)))

    stem = f"{at}.block_sparse_moe"
    if f"{stem}.gate.weight" not in w:
        return gated(*(w[f"{at}.mlp.{part}_proj.weight"] for part in ("gate", "up", "down")))
    shares = softmax(w[f"{stem}.gate.weight"] @ y)
    best = np.argsort(-shares)[:2]
    parts = [
        shares[e] * gated(*(w[f"{stem}.experts.{e}.{part}.weight"] for part in ("w1", "w3", "w2")))
        for e in best
    ]
    return np.asarray(sum(parts) / shares[best].sum())
