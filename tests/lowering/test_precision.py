"""Storage and accumulation dtypes through a whole compile: bytes, words, cycles and errors."""

from __future__ import annotations

import numpy as np
import pytest

from engine.geometry import Rect
from engine.kernels.cost import kernel_model
from engine.kernels.dot.spec import Dot
from engine.kernels.spec import KernelSpec
from engine.profile import profile
from engine.program import Kernel, Tiling
from engine.run import execute
from engine.values import run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, KnobError, apply_knob
from lowering.evaluate import default_inputs
from lowering.machine_file import find_machine
from lowering.stages.memory import work_requests
from lowering.stages.routing import End, kernel_legs
from tests.factories.graphs import model_graph


def compiled(name: str = "mlp", **knobs: str) -> Compiled:
    config = CompileConfig(machine=find_machine("mesh-16x16"))
    for knob, value in knobs.items():
        config = apply_knob(config, knob, value)
    return compile_graph(model_graph(name), config)


def error(made: Compiled) -> float:
    """Return the largest error of the outputs against those of fp32."""
    inputs = default_inputs(made.graph, seed=1)
    ours = run_values(made.program, made.store, inputs).outputs()
    plain = compiled(made.graph.name)
    theirs = run_values(plain.program, plain.store, inputs).outputs()
    return max(float(np.abs(ours[n] - a).max() / np.abs(a).max()) for n, a in theirs.items())


@pytest.mark.parametrize(("dtype", "bound"), [("fp16", 3e-3), ("bf16", 3e-2)])
def test_narrow_storage_halves_weights_and_words_and_its_errors_show(
    dtype: str, bound: float
) -> None:
    wide, narrow = compiled(), compiled(dtype=dtype)
    assert execute(narrow.program, narrow.store).ledger.ok
    assert narrow.fits
    assert 1e-5 < error(narrow) <= bound
    first = [made.program.transfers[0].legs[0].words for made in (wide, narrow)]
    assert first[0] == 2 * first[1]


def test_bf16_is_coarser_than_fp16_and_as_fast() -> None:
    half, brain = compiled(dtype="fp16"), compiled(dtype="bf16")
    assert error(brain) > 2 * error(half)
    spans = [execute(made.program, made.store).timeline.makespan for made in (half, brain)]
    assert spans[0] == spans[1]


def test_fp16_accumulation_halves_the_words_and_bytes_of_partial_sums() -> None:
    spec = KernelSpec(ops=(Dot(inputs=("x", "w"), outputs=("y",)),), main=0)
    shapes = {"x": (8, 64), "w": (64, 16), "y": (8, 16)}
    machine, tiling, region = find_machine("wse2"), Tiling(1, 4, 2), Rect(0, 0, 4, 2)
    words, held, moved = [], [], []
    for accumulate in ("fp32", "fp16"):
        model = kernel_model(spec, shapes, frozenset({"w"}), accumulate)
        kernel = Kernel("y", "dot", spec, region, tiling, ("x",), ("y",), ("w",))
        words.append([leg.words for leg in kernel_legs(model, End(region, tiling), machine)])
        held.append([each.size for each in work_requests(kernel, model, "fp32")])
        moved.append(int(profile(model, tiling, machine, "fp32").length))
    # 8 x 16 sums of 4 bytes are 128 wavelets, of 2 bytes 64
    assert words == [[128], [64]]
    assert held[0][0] == 2 * held[1][0]
    # a PE sends and receives 8 x 8 sums: 128 cycles at 4 bytes, 64 at 2
    assert moved[0] - moved[1] == 64


def test_fp16_accumulation_runs_and_its_error_shows() -> None:
    narrow = compiled(accumulate="fp16")
    assert execute(narrow.program, narrow.store).ledger.ok
    assert narrow.program.accumulate == "fp16"
    assert 1e-5 < error(narrow) <= 5e-3


def test_accumulation_offers_no_bf16() -> None:
    with pytest.raises(KnobError, match="must be one of fp32, fp16"):
        apply_knob(CompileConfig(), "accumulate", "bf16")
