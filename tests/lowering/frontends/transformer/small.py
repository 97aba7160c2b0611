"""Small architectures and seeded weights for the tests."""

from __future__ import annotations

import zlib

import numpy as np

from lowering.frontends.transformer.architecture import Architecture, Experts, Latent
from lowering.frontends.transformer.writer import DTYPE

LLAMA = Architecture(
    "llama", 11, 8, 2, 4, 2, 4, 12, "silu", gated=True, rope_theta=100.0, epsilon=1e-5
)  # fmt: skip
GPT2 = Architecture(
    "gpt2", 11, 8, 2, 2, 2, 4, 16, "gelu_tanh", norm="layer", position="learned", positions=6,
    qkv_bias=True, out_bias=True, inner_bias=True, tied=True,
)  # fmt: skip
MIXTRAL = Architecture(
    "mixtral", 11, 8, 2, 4, 2, 4, 12, "silu", gated=True, experts=Experts(4, 2, 6)
)  # fmt: skip
DEEPSEEK = Architecture(
    "deepseek_v3", 11, 8, 2, 2, 2, 8, 12, "silu", gated=True,
    experts=Experts(8, 2, 6, shared=1, first=1, scoring="sigmoid", bias=True, scale=2.5,
                    groups=4, active_groups=2),
    latent=Latent(q_rank=6, kv_rank=5, nope=4, rope=4, value=3),
)  # fmt: skip
PARALLEL = Architecture(
    "gptj", 11, 8, 2, 2, 2, 4, 16, "gelu", norm="layer-no-bias", rotary_dim=2, parallel=True,
    embed_norm=True,
)  # fmt: skip
ALIBI = Architecture(
    "bloom", 11, 8, 2, 2, 1, 4, 16, "relu", norm="layer", position="alibi", tied=True
)  # fmt: skip
GEMMA = Architecture(
    "gemma2", 11, 8, 2, 4, 2, 4, 12, "gelu_tanh", gated=True, norm="rms-plus-one", rope_theta=100.0,
    tied=True, query_size=6.0, window=2, windowed=(True, False), sandwich=True, score_cap=0.5,
    logit_cap=2.0, embed_scale=1.5,
)  # fmt: skip
DECODERS = {each.family: each for each in (LLAMA, GPT2, MIXTRAL, DEEPSEEK, PARALLEL, ALIBI, GEMMA)}


class Seeded:
    """Weights drawn by their path, so that the same path always gets the same numbers."""

    def array(self, path: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return the weight at `path`."""
        dice = np.random.default_rng(zlib.crc32(path.encode()))
        if path.endswith("norm/weight"):
            return dice.uniform(0.5, 1.5, shape).astype(DTYPE)
        return (dice.standard_normal(shape) * 0.5).astype(DTYPE)
