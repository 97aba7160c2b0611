"""Rewrites of a Graph. A pass is a frozen dataclass, its fields are its options, and
`run(graph)` returns a new Graph that computes the same."""

from lowering.passes.batch_norm import FoldBatchNorm
from lowering.passes.canonicalise import Canonicalise
from lowering.passes.fold import Fold

__all__ = ["Canonicalise", "Fold", "FoldBatchNorm"]
