"""Rewrites of a Graph. A pass is a frozen dataclass, its fields are its options, and
`run(graph)` returns a new Graph that computes the same; a value's name keeps its meaning."""

from typing import Protocol

from lowering.graph import Graph
from lowering.passes.batch_norm import FoldBatchNorm
from lowering.passes.canonicalise import Canonicalise
from lowering.passes.constant_outputs import HoldConstantOutputs
from lowering.passes.fold import Fold
from lowering.passes.global_pool import GlobalPool


class Pass(Protocol):
    """What every pass offers."""

    def run(self, graph: Graph) -> Graph:
        """Return a graph that computes the same."""
        ...


PIPELINE: tuple[Pass, ...] = (
    Fold(), Canonicalise(), FoldBatchNorm(), GlobalPool(), HoldConstantOutputs(),
)  # fmt: skip
"""what runs on an imported graph before kernels are formed, in order"""


def run_passes(graph: Graph) -> Graph:
    """Return the graph after every pass of the pipeline."""
    for rewrite in PIPELINE:
        graph = rewrite.run(graph)
    return graph


__all__ = [
    "PIPELINE", "Canonicalise", "Fold", "FoldBatchNorm", "GlobalPool", "HoldConstantOutputs",
    "Pass", "run_passes",
]  # fmt: skip
