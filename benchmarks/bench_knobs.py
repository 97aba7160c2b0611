"""Turning each knob on gpt2-small, sequence 128, on wse2: `python -m benchmarks.bench_knobs`.

Budget: 0.3 s when placement stands, 1.5 s when not. Seconds are of the process, the least of three
turns, each from a fresh cache that holds the base run; a first turn that is not measured loads the
compiled kernels.
"""

from __future__ import annotations

import time

from app.debugger import Debugger
from app.runs.opening import load_graph
from app.runs.run import make_run
from benchmarks.measure import line
from lowering.cache import StageCache
from lowering.config import KNOBS, CompileConfig, apply_knob
from lowering.graph import Graph

KEPT = {"routing", "memory", "timing", "values", "print"}
"""stages of knobs that leave the placement alone"""
MOMENTS = (0.0, 0.05, 0.15, 0.3)
"""seconds after its start at which a recompile is cancelled"""
TURNS = (
    ("samples", "5"), ("slots", "3"), ("max_chunks", "4"), ("route_order", "xy"),
    ("host_wavelets_per_cycle", "20"), ("clock_hz", "1e9"), ("hop_cycles", "2"),
    ("link_bits", "64"), ("fp32_rate", "1"), ("sram_bytes", "40000"), ("aspect", "4"),
    ("square_weight", "0"),
    ("fusion", "bias+activation"), ("fold_batch_norm", "off"), ("dtype", "fp16"),
    ("machine", "wse3"), ("pin", "100x100 at 500,300"),
)  # fmt: skip


def main() -> None:
    """Print the seconds of each turn, worst last."""
    graph = load_graph("gpt2-small", {}, shape_only=True)
    turns = {name: (apply_knob(CompileConfig(), name, value)
                    if not KNOBS[name].per_kernel else _of_kernel(graph, name, value))
             for name, value in TURNS}  # fmt: skip
    make_run(0, graph, CompileConfig(), "gpt2-small", cache=StageCache())
    found = []
    for name, config in turns.items():
        seconds = min(_turn(graph, config) for _ in range(3))
        found.append((seconds, 0.3 if KNOBS[name].stage in KEPT else 1.5, name))
    for seconds, budget, name in sorted(found):
        print(line(f"gpt2-small, wse2: {name}", seconds, budget))
    print(line("cancel of a recompile, worst of 4 moments", max(map(_cancel, MOMENTS)), 0.2))


def _of_kernel(graph: Graph, name: str, value: str) -> CompileConfig:
    """Return a config that turns a knob of the fourth kernel."""
    run = make_run(0, graph, CompileConfig(), "gpt2-small", cache=StageCache())
    return apply_knob(CompileConfig(), name, value, kernel=run.program.kernels[3].id)


def _turn(graph: Graph, config: CompileConfig) -> float:
    """Return the process's seconds of one turn away from the base run."""
    cache = StageCache()
    make_run(0, graph, CompileConfig(), "gpt2-small", cache=cache)
    begin = time.process_time()
    make_run(0, graph, config, "gpt2-small", cache=cache)
    return time.process_time() - begin


def _cancel(after: float) -> float:
    """Return the seconds from cancelling a recompile, started `after` before, to its end."""
    session = Debugger.open("gpt2-small")
    session.do("set", "fusion", "bias")
    time.sleep(after)
    begin = time.perf_counter()
    session.do("cancel")
    session.wait(20)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
