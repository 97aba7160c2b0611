"""Rewrites of a Graph. A pass is a frozen dataclass, its fields are its options, and
`run(graph)` returns a new Graph that computes the same; a value's name keeps its meaning."""

from collections.abc import Sequence
from typing import Protocol

from lowering.graph import Graph
from lowering.passes.batch_norm import FoldBatchNorm
from lowering.passes.canonicalise import Canonicalise
from lowering.passes.constant_outputs import HoldConstantOutputs
from lowering.passes.experts import JoinExperts
from lowering.passes.fold import Fold
from lowering.passes.global_pool import GlobalPool
from lowering.passes.integers import DequantizeLast, QuantizeWeights


class Pass(Protocol):
    """What every pass offers."""

    def run(self, graph: Graph) -> Graph:
        """Return a graph that computes the same."""
        ...


PIPELINE: tuple[Pass, ...] = (
    DequantizeLast(), Fold(), Canonicalise(), FoldBatchNorm(), GlobalPool(), JoinExperts(),
    HoldConstantOutputs(),
)  # fmt: skip
"""what runs on an imported graph before kernels are formed, in order"""


WEIGHTS = ("stored", "int8")
"""ways of keeping constant weights of products: as the model stores them, or quantised to int8"""
OPTIONAL: dict[str, type[Pass]] = {
    "fold_batch_norm": FoldBatchNorm, "global_pool": GlobalPool, "join_experts": JoinExperts,
}  # fmt: skip
"""passes that a user may switch off, by name"""


def run_passes(graph: Graph, off: Sequence[str] = (), weights: str = WEIGHTS[0]) -> Graph:
    """Return the graph after every pass of the pipeline but the optional ones named in `off`.

    `weights` is one of `WEIGHTS`: how constant weights of products are kept.
    """
    skipped = tuple(OPTIONAL[name] for name in off)
    for rewrite in PIPELINE:
        if not isinstance(rewrite, skipped):
            graph = rewrite.run(graph)
    return QuantizeWeights().run(graph) if weights == "int8" else graph


__all__ = [
    "OPTIONAL", "PIPELINE", "WEIGHTS", "Canonicalise", "DequantizeLast", "Fold", "FoldBatchNorm",
    "GlobalPool", "HoldConstantOutputs", "JoinExperts", "Pass", "QuantizeWeights", "run_passes",
]  # fmt: skip
