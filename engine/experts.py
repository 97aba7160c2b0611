"""Mixtures of experts whose routing is known: what the tokens each expert got make each row do.

The rows of a group hold the experts one after the other, each an equal share of their weights. A
row multiplies for the tokens of the experts it holds; the router's products are shared evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from engine.geometry import Split
from engine.kernels.moe.spec import Moe, MoeSides
from engine.kernels.spec import KernelSpec
from engine.program import Tiling

Counts = Sequence[Sequence[int]]


def token_counts(chosen: np.ndarray, experts: int, m_parts: int) -> tuple[tuple[int, ...], ...]:
    """Return the tokens that each expert takes, for each group of rows.

    `chosen`, int64 (tokens, active), are the experts of each token.
    """
    tokens = Split(len(chosen), m_parts)
    found = []
    for part in range(m_parts):
        mine = chosen[tokens.start(part) : tokens.start(part + 1)]
        counts = np.bincount(mine.ravel(), minlength=experts)
        found.append(tuple(int(count) for count in counts))
    return tuple(found)


def spread_out(counts: Counts, tokens: int, active: int) -> np.ndarray:
    """Return experts of each token, int64 (tokens, active), of which these are the counts.

    Raises ValueError where no routing gives these counts.
    """
    groups = [np.repeat(np.arange(len(each)), each) for each in counts]
    sizes = Split(tokens, len(counts)).sizes() * active
    if [len(group) for group in groups] != sizes.tolist():
        raise ValueError(f"{tokens} tokens of {active} experts each do not give counts {counts}")
    return np.concatenate(groups).reshape(tokens, active)


def routed_terms(
    spec: KernelSpec, shapes: Mapping[str, tuple[int, ...]], tiling: Tiling, counts: Counts
) -> np.ndarray:
    """Return the products that each row of the region executes for one result, int64 (rows,)."""
    op = spec.main_op
    if not isinstance(op, Moe):
        raise TypeError(f"{type(op).__name__} has no experts")
    sides = MoeSides.of(op, shapes)
    held = expert_shares(sides.experts, sides.expert_terms(op), tiling.k_parts)
    router = Split(sides.router_terms(op), tiling.k_parts).sizes()
    tokens = Split(sides.tokens, tiling.m_parts).sizes()
    groups = [held @ np.asarray(each, np.int64) + n * router
              for each, n in zip(counts, tokens, strict=True)]  # fmt: skip
    return np.concatenate(groups).astype(np.int64)


def expert_shares(experts: int, terms: int, rows: int) -> np.ndarray:
    """Return how many of each expert's `terms` each row holds, int64 (rows, experts)."""
    cut = Split(experts * terms, rows)
    ends = np.array([cut.start(row) for row in range(rows + 1)])
    starts = np.arange(experts) * terms
    low = np.maximum(ends[:-1, None], starts)
    high = np.minimum(ends[1:, None], starts + terms)
    return np.asarray(np.maximum(0, high - low))
