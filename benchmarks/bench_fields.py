"""Maps of one step on a full wafer: `python -m benchmarks.bench_fields`."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import least, line
from demo_models import demo_path
from engine.fields import Fields
from engine.machine import PRESETS
from engine.run import execute
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.frontends.onnx import load_onnx

METRICS = ("utilization", "cause", "sram_live", "link_east", "link_south", "traffic")
BUDGET = 0.030


def main() -> None:
    """Print the figures of the busiest steps of GPT-2 small on wse3 (883,350 PEs)."""
    graph = load_onnx(demo_path("gpt2-small"), values=False)
    compiled = compile_graph(graph, CompileConfig(machine=PRESETS["wse3"]))
    fields = execute(compiled.program, compiled.store).fields
    moved = np.diff(fields.tables.moved.step_start)
    step = int(moved.argmax())
    plane = np.zeros(fields.shape, np.int32)
    baseline = least(lambda: np.cumsum(plane, axis=0), 5)
    print(f"step {step}: {moved[step]} transfers move; baseline = one cumulative sum of a map")
    for metric in METRICS:
        spent = least(lambda m=metric: fields.field(m, step), 7)  # type: ignore[misc]
        print(line(f"field {metric}, numpy", spent, BUDGET, baseline))
    print(line("inspector of one PE (causes, SRAM, links)",
               least(lambda: _inspect(fields, step), 5), 0.005))  # fmt: skip


def _inspect(fields: Fields, step: int) -> None:
    fields.pe_causes(300, 300, step)
    fields.pe_sram(300, 300, step)
    fields.pe_links(300, 300, step)


if __name__ == "__main__":
    main()
