"""Weight streaming: closed forms of arrivals, equal values in both modes, ledger and choice."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
import pytest

from engine.causes import CAUSES
from engine.kernels.dot.spec import Dot
from engine.machine import PRESETS, MachineSpec, generic_mesh, parse_machine
from engine.models import program_models
from engine.program import HOST, Tiling
from engine.run import Execution, execute
from engine.values import run_values
from lowering.compiler import compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.evaluate import default_inputs
from lowering.frontends.huggingface.loading import load_config
from lowering.frontends.onnx import load_onnx
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.graph import Graph
from lowering.stages.streaming import weight_streams
from tests.factories.graphs import model_graph, tiny_graph
from tests.factories.light import light_path, reseed_light, without_last
from tests.factories.onnx_models import saved
from tests.factories.training import initial_inputs, step_graph
from tests.lowering.frontends.transformer.small import LLAMA, Seeded

DATA = Path(__file__).parents[1] / "data"
SIDE = 64
"""rows and columns of the weights of a layer: 4,096 wavelets"""
LONG = 512
"""positions from which work outlasts weights that come one wavelet a cycle"""


def streamed(
    layers: int, machine: MachineSpec, prefetch: int = 1, samples: int = 1, rows: int = 8
) -> Execution:
    """Run a chain of square products on streamed weights."""
    names = ["x", *(f"y{i}" for i in range(layers))]
    ops = [Dot(inputs=(a, f"w{i}"), outputs=(b,)) for i, (a, b) in enumerate(pairwise(names))]
    shapes = dict.fromkeys(names, (rows, SIDE)) | {f"w{i}": (SIDE, SIDE) for i in range(layers)}
    config = CompileConfig(machine=machine, mode="streaming", prefetch=prefetch, samples=samples)
    compiled = compile_graph(tiny_graph(shapes, *ops), config)
    return execute(compiled.program, compiled.store, every_step=True)


def slow_port(latency: int = 500) -> MachineSpec:
    """Return a mesh whose weight ports carry one wavelet a cycle."""
    return replace(
        generic_mesh(16, 16), weight_wavelets_per_cycle=1.0, weight_latency_cycles=latency
    )


@pytest.mark.parametrize(("rate", "arriving"), [(1.0, 4096), (2.5, 1639), (4.0, 1024)])
def test_one_layer_bound_by_weights_takes_latency_and_bytes_over_bandwidth(
    rate: float, arriving: int
) -> None:
    run = streamed(1, replace(slow_port(), weight_wavelets_per_cycle=rate))
    assert run.timeline.start[0, 0] == 500 + arriving
    assert run.timeline.end[0, 0] == 500 + arriving + run.profiles["y0"].length
    assert run.bottleneck.kind == "weights"


def test_wide_ports_are_as_fast_as_the_links_behind_them() -> None:
    run = streamed(1, replace(slow_port(0), weight_wavelets_per_cycle=1e6))
    stream = run.program.streams[0]
    # 16 rows take 256 words each, at most one in four cycles
    assert run.timeline.start[0, 0] == stream.cycles == 4 * SIDE * SIDE // 16


def test_layers_bound_by_compute_take_their_profiles_and_the_first_arrival() -> None:
    run = streamed(2, slow_port(0), samples=3, rows=LONG)
    lengths = [run.profiles[name].length for name in ("y0", "y1")]
    starts = run.timeline.start[:2]
    assert min(lengths) > 4 * SIDE * SIDE
    assert starts[0, 0] == SIDE * SIDE
    assert (run.timeline.end[:2] - starts == np.array(lengths)[:, None]).all()
    # a sample's first weights come when the last one has ended, its others in the turns before
    assert np.diff(starts[0]).tolist() == [SIDE * SIDE + sum(lengths) + 1] * 2
    assert run.bottleneck.kind == "compute"


@pytest.mark.parametrize("rows", [8, LONG])
@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_prefetch_overlaps_to_the_longer_of_the_two(rows: int, rate: float) -> None:
    machine = replace(slow_port(0), weight_wavelets_per_cycle=rate)
    run = streamed(2, machine, rows=rows)
    arriving, work = -(-SIDE * SIDE // rate), run.profiles["y0"].length
    assert run.timeline.start[1, 0] - run.timeline.start[0, 0] == max(arriving, work)
    assert (arriving > work) == (rows == 8)


@pytest.mark.parametrize("rows", [8, LONG])
@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_without_prefetch_arrival_and_work_add_up(rows: int, rate: float) -> None:
    machine = replace(slow_port(0), weight_wavelets_per_cycle=rate)
    run = streamed(2, machine, prefetch=0, rows=rows)
    arriving, work = -(-SIDE * SIDE // rate), run.profiles["y0"].length
    assert run.timeline.start[1, 0] - run.timeline.start[0, 0] == arriving + work


def test_waits_for_weights_are_named() -> None:
    run = streamed(2, slow_port(0), prefetch=0)
    waited = run.fields.cause_sums(CAUSES.index("wait-weights")).sum()
    assert waited == run.program.streams[1].cycles * run.program.machine.pes


@pytest.mark.parametrize("prefetch", [0, 1, 3])
def test_every_law_holds_in_every_step(prefetch: int) -> None:
    run = streamed(5, slow_port(), prefetch=prefetch, samples=3)
    assert [check for check in run.ledger.checks if not check.ok] == []


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l", "bert", "vit", "convnext", "demo-transformer"])
@pytest.mark.parametrize("machine", ["wse2", "mesh-64x64"])
def test_models_run_with_a_ledger_that_holds(name: str, machine: str) -> None:
    config = CompileConfig(machine=parse_machine(machine), mode="streaming")
    compiled = compile_graph(model_graph(name), config)
    run = execute(compiled.program, compiled.store)
    assert [check for check in run.ledger.checks if not check.ok] == []
    assert compiled.program.would_run


@lru_cache(maxsize=4)
def valued_graph(name: str) -> Graph:
    """A model with numbers: a small one, a Llama of two layers, ResNet-50 with seeded weights."""
    if name == "llama":
        load = ModelOptions(task="prefill", batch=1, sequence=6).resolved()
        return build_transformer("llama", LLAMA, load, Seeded())
    if name == "resnet50":
        model = without_last(reseed_light(onnx.load(light_path(name))), "Softmax")
        with TemporaryDirectory() as folder:
            return load_onnx(saved(model, Path(folder)))
    return model_graph(name)


@pytest.mark.parametrize(
    "name",
    [
        "demo-transformer", "demo-cnn", "convnext", "mlp", "llama",
        pytest.param("resnet50", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_both_modes_give_the_same_values(name: str) -> None:
    graph = valued_graph(name)
    inputs = default_inputs(graph)
    found = []
    for mode in ("pipeline", "streaming"):
        compiled = compile_graph(graph, CompileConfig(mode=mode))
        found.append(run_values(compiled.program, compiled.store, inputs).outputs())
    for output in graph.outputs:
        ours, theirs = found[0][output], found[1][output]
        assert np.abs(ours - theirs).max() <= 1e-5 * np.abs(theirs).max()


@pytest.mark.parametrize(
    "name", ["demo-transformer", "demo-cnn", "mlp", "llama", "step mlp", "step gpt2_2l"]
)
def test_where_sums_run_in_the_same_order_both_modes_agree_bit_for_bit(name: str) -> None:
    trains = name.startswith("step ")
    graph = step_graph(name.removeprefix("step ")) if trains else valued_graph(name)
    inputs = initial_inputs(graph) if trains else default_inputs(graph)
    roomy = CompileConfig(machine=replace(generic_mesh(64, 64), sram_bytes=1 << 24), samples=1)
    names = [kernel.id for kernel in compile_graph(graph, roomy).program.kernels]
    alone = replace(roomy, pe_caps=tuple((each, 1) for each in names))
    found = []
    for mode in ("pipeline", "streaming"):
        compiled = compile_graph(graph, replace(alone, mode=mode))
        assert {kernel.tiling for kernel in compiled.program.kernels} == {Tiling(1, 1, 1)}
        found.append(run_values(compiled.program, compiled.store, inputs).outputs())
    for output in graph.outputs:
        np.testing.assert_array_equal(found[0][output], found[1][output], err_msg=output)


def test_auto_streams_what_no_pipeline_can_hold() -> None:
    graph = model_graph("demo-gpt2-small")
    # 163 million weights of 4 bytes (the tied table in both layouts) into 4,096 PEs of 45 KB
    compiled = compile_graph(graph, CompileConfig(machine=parse_machine("mesh-64x64")))
    assert compiled.program.mode == "streaming"
    assert "the weights take 650.2 MB" in compiled.report.notes[0]
    execution = execute(compiled.program, compiled.store)
    rate = 1e6 * compiled.program.samples / execution.timeline.makespan
    assert rate < said_bound(compiled.report.notes[0]) * 1.01
    other = CompileConfig(machine=parse_machine("mesh-64x64"), mode="pipeline")
    assert not compile_graph(graph, other).fits


def test_auto_keeps_a_pipeline_that_fits_and_gives_both_figures() -> None:
    compiled = compile_graph(model_graph("demo-transformer"), CompileConfig())
    assert compiled.program.mode == "pipeline"
    assert "mode pipeline: it fits and is not slower; pipeline" in compiled.report.notes[-1]
    assert "streaming" in compiled.report.notes[-1]


def marginal_cycles(graph: Graph, config: CompileConfig) -> float:
    """Cycles that one more sample takes."""
    ends = []
    for samples in (2, 6):
        compiled = compile_graph(graph, replace(config, samples=samples))
        ends.append(execute(compiled.program, compiled.store).timeline.makespan)
    return (ends[1] - ends[0]) / 4


@pytest.mark.parametrize(
    ("name", "machine"),
    [("mlp", "mesh-64x64"), ("demo-cnn", "mesh-64x64"), ("bert", "mesh-64x64"),
     ("demo-transformer", "wse2"), ("mlp", "fast ports")],
)  # fmt: skip
def test_the_mode_that_auto_picks_is_not_slower_than_the_other(name: str, machine: str) -> None:
    mesh = replace(
        generic_mesh(64, 64), weight_wavelets_per_cycle=1e4, weight_latency_cycles=0
    ) if machine == "fast ports" else parse_machine(machine)  # fmt: skip
    graph, config = model_graph(name), CompileConfig(machine=mesh)
    chosen = compile_graph(graph, config)
    cycles = {
        mode: marginal_cycles(graph, replace(config, mode=mode))
        for mode in ("pipeline", "streaming")
    }
    other = "pipeline" if chosen.program.mode == "streaming" else "streaming"
    assert cycles[chosen.program.mode] <= cycles[other]
    note = chosen.report.notes[-1]
    if "(timed)" in note:
        for mode, taken in cycles.items():
            said = float(note.split(f"{mode} ")[-1].split(" ")[0].rstrip(","))
            assert abs(said * taken / 1e6 - 1) < 0.05, mode
    else:
        assert f"streaming at most {said_bound(note):.3g}" in note
        assert 1e6 / cycles["streaming"] <= 1.01 * said_bound(note)


def said_bound(note: str) -> float:
    """The rate that a note says streaming cannot exceed."""
    return float(note.split("streaming at most ")[1].split()[0].rstrip(":"))


def test_mode_is_a_knob() -> None:
    config = apply_knob(CompileConfig(), "mode", "streaming")
    assert config.mode == "streaming"
    assert apply_knob(config, "prefetch", "3").prefetch == 3
    assert PRESETS["wse2"].weight_wavelets_per_cycle == 44.0


def test_auto_streams_what_a_pipeline_has_too_few_colors_for() -> None:
    compiled = compile_graph(step_graph("resnet_s"), CompileConfig(samples=1))
    assert (compiled.fits, compiled.program.mode) == (True, "streaming")
    assert "as a pipeline a router is short of" in compiled.report.notes[-1]
    assert compiled.report.colors_used <= 21


def test_transfers_share_colors_where_a_turn_has_too_few() -> None:
    few = replace(PRESETS["wse2"], colors=12)
    config = CompileConfig(machine=few, mode="streaming", samples=1)
    compiled = compile_graph(step_graph("resnet_s"), config)
    assert [c for c in compiled.program.conflicts if c.plane == "color"]
    assert compiled.report.colors_used <= 9
    assert execute(compiled.program, compiled.store).ledger.ok


@pytest.mark.parametrize("prefetch", [0, 1, 2])
def test_what_is_read_later_waits_at_its_producer(prefetch: int) -> None:
    config = CompileConfig(machine=generic_mesh(64, 64), mode="streaming", prefetch=prefetch)
    program = compile_graph(model_graph("demo-transformer"), config).program
    order = [kernel.id for kernel in program.kernels]
    far = 0
    for transfer in program.transfers:
        if HOST in transfer.consumers:
            continue
        born = order.index(transfer.producer) if transfer.producer != HOST else -1
        gate = order.index(transfer.consumers[0]) - 1 - prefetch
        assert transfer.after == (order[gate] if gate > born else "")
        far += bool(transfer.after)
        held = next(
            b for b in program.buffers
            if (b.kernel, b.role, b.name) == (transfer.consumers[0], "in slot", transfer.tensor)
        )  # fmt: skip
        if transfer.after:
            assert held.live == (gate + 1, gate + 1 + prefetch)
    assert far


def test_late_weights_come_in_the_turns_right_before_their_own() -> None:
    config = CompileConfig(machine=generic_mesh(64, 64), mode="streaming")
    program = compile_graph(model_graph("demo-transformer"), config).program
    order = [kernel.id for kernel in program.kernels]
    models = program_models(program)
    for late in (False, True):
        streams = weight_streams(program.kernels, models, program.machine, "fp32", 1, late=late)
        served = [stream.kernel for stream in streams]
        assert len(served) < len(order)
        for index, stream in enumerate(streams):
            before = order[: order.index(stream.kernel)] if late else served[:index]
            assert stream.gate == (before[-2] if len(before) > 1 else "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "task", "tokens"),
    [("deepseek-v3", "decode", 4096), ("deepseek-v3", "prefill", 2048),
     ("llama3-8b", "training", 256), ("llama3-70b", "training", 2048),
     ("gpt3-175b", "training", 128), ("mixtral-8x7b", "training", 128)],
)  # fmt: skip
def test_full_size_models_fit_one_wafer(model: str, task: str, tokens: int, tmp_path: Path) -> None:
    rows = json.loads((DATA / "huggingface" / "full_size.json").read_text())
    path = tmp_path / "config.json"
    path.write_text(json.dumps(next(row["config"] for row in rows if row["model"] == model)))
    sides = {"kv_length": tokens} if task == "decode" else {"sequence": tokens}
    graph = load_config(path, task, 1, **sides)
    chosen = CompileConfig(machine=PRESETS["wse3"], storage="fp16", mode="streaming", samples=1)
    made = compile_graph(graph, chosen)
    assert made.fits, [overflow.sentence() for overflow in made.report.overflows]
    assert execute(made.program, made.store).ledger.ok


def test_what_no_cut_can_fit_is_said_of_its_turn() -> None:
    machine = replace(generic_mesh(4, 4), sram_bytes=1400, reserved_sram_bytes=400)
    graph = model_graph("demo-mlp")
    config = CompileConfig(machine=machine, mode="streaming", tile_loops="off")
    made = compile_graph(graph, config)
    assert not made.fits
    (note,) = [note for note in made.report.notes if "no cut would fit" in note]
    kernel = made.program.kernel(note.split("'")[1])
    weights = sum(made.graph.values[name].elements for name in kernel.weights)
    held = weights + sum(made.graph.values[name].elements for name in kernel.writes)
    assert float(note.split("take ")[1].split()[0]) == pytest.approx(held * 4 / 16_000, rel=5e-3)
