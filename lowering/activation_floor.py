"""How low the activations of a training step can be pressed by doing forward work again."""

from __future__ import annotations

from lowering.cache import StageCache
from lowering.compiler import passed_graph
from lowering.config import CompileConfig
from lowering.graph import Graph
from lowering.passes.cold import keep_tables_outside
from lowering.passes.recompute import least_peak


def activation_floor(graph: Graph, config: CompileConfig, cache: StageCache) -> tuple[int, int]:
    """Return the least bytes alive at once that `activation_mb` can reach for a graph as imported,
    and how many segments of its forward work can run again for it.

    Counted in the order in which kernels take turns; nothing is placed or timed.
    """
    ready = passed_graph(graph, config, cache)

    def find() -> tuple[int, int]:
        kept = keep_tables_outside(ready).graph if config.embedding == "host" else ready
        return least_peak(kept, config.storage, config.fusion, outside=config.outside_phase)

    key = (ready, config.embedding, config.storage, config.fusion, config.outside_phase)
    return cache.get("activation floor", key, find)
