"""Compile and timeline of GPT-2 small, and knobs: `python -m benchmarks.bench_compile`."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.measure import least, line
from demo_models import demo_path
from engine.jit import warm_up
from engine.run import execute
from lowering.cache import StageCache
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.frontends.onnx import load_onnx


def main() -> None:
    """Print the figures."""
    warm_up()
    graph = load_onnx(demo_path("gpt2-small"), values=False)
    base = CompileConfig(samples=4)

    def run(config: CompileConfig, cache: StageCache | None = None) -> None:
        compiled = compile_graph(graph, config, cache=cache)
        execute(compiled.program, compiled.store)

    print(line("gpt2-small, 4 samples, wse2: compile + timeline + ledger",
               least(lambda: run(base), 3), 1.5))  # fmt: skip
    cache = StageCache()
    run(base, cache)
    turns = iter((3, 4, 5))
    print(line("knob that leaves placement alone (slots)",
               least(lambda: run(_slots(base, next(turns)), cache), 3), 0.3))  # fmt: skip
    kernels = iter(("h1/mlp/fc/matmul", "h2/mlp/fc/matmul", "h3/mlp/fc/matmul"))
    print(line("knob that does not (PE cap)",
               least(lambda: run(_capped(base, next(kernels)), cache), 3), 1.5))  # fmt: skip


def _slots(config: CompileConfig, slots: int) -> CompileConfig:
    return replace(config, in_slots=slots, out_slots=slots)


def _capped(config: CompileConfig, kernel: str) -> CompileConfig:
    return replace(config, pe_caps=((kernel, 9000),))


if __name__ == "__main__":
    main()
