"""A mixture of four experts whose tokens say themselves which expert they go to."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from engine.kernels.moe.spec import Moe
from lowering.graph import Graph, Node, Value

TOKENS, WIDTH, EXPERTS, INNER = 4, 8, 4, 64
SKEWED = (3, 1, 0, 0)
"""tokens by expert"""


@lru_cache(maxsize=1)
def mixture() -> Graph:
    """Return a mixture whose router sends token t to the expert its first 4 features name."""
    rng = np.random.default_rng(0)
    router = np.zeros((WIDTH, EXPERTS), np.float32)
    router[:EXPERTS] = 10 * np.eye(EXPERTS)
    gate, up = (rng.standard_normal((EXPERTS, WIDTH, INNER)).astype(np.float32) for _ in range(2))
    down = rng.standard_normal((EXPERTS, INNER, WIDTH)).astype(np.float32)
    weights = {"router": router, "gate": gate, "up": up, "down": down}
    op = Moe(inputs=("x", *weights), outputs=("y",), active=1)
    shapes = {"x": (TOKENS, WIDTH), "y": (TOKENS, WIDTH)}
    shapes |= {name: array.shape for name, array in weights.items()}
    return Graph(
        "mixture", ("x",), ("y",), (Node("moe", op, "MixtureOfExperts", ("moe",)),),
        {name: Value(name, shape, "float32") for name, shape in shapes.items()}, weights,
    )  # fmt: skip


def tokens_to(counts: tuple[int, ...]) -> np.ndarray:
    """Return tokens of which each expert takes so many, shuffled."""
    x = np.full((TOKENS, WIDTH), 0.1, np.float32)
    wanted = np.random.default_rng(1).permutation(np.repeat(np.arange(EXPERTS), counts))
    x[np.arange(TOKENS), wanted] = 1
    return x
