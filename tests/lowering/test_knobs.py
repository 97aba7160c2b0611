"""Every knob changes what it says, makes anew what its stage says, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engine.causes import CAUSES
from engine.geometry import Rect
from engine.kernels.dot.spec import Dot
from engine.machine import generic_mesh, parse_machine
from engine.program import HOST
from engine.run import Execution, execute
from lowering.cache import StageCache
from lowering.compiler import Compiled, compile_graph
from lowering.config import KNOBS, CompileConfig, apply_knob
from tests.factories.graphs import model_graph, tiny_graph

MESH = CompileConfig(machine=parse_machine("mesh-64x64"), mode="pipeline")
LARGER = replace(MESH, machine=parse_machine("mesh-128x128"))
LATE: set[str] = set()
PLACED = {"placement", "routing"}


def compile_twice(
    model: str, after: CompileConfig, before: CompileConfig = MESH
) -> tuple[Compiled, Compiled, set[str]]:
    """Compile with one memory; return both and the stages that the second made anew."""
    cache, graph = StageCache(), model_graph(model)
    first = compile_graph(graph, before, cache=cache)
    known = set(cache._entries)
    second = compile_graph(graph, after, cache=cache)
    return first, second, {str(key[0]) for key in set(cache._entries) - known}  # type: ignore[index]


def run(compiled: Compiled) -> Execution:
    execution = execute(compiled.program, compiled.store)
    assert execution.ledger.ok, [c for c in execution.ledger.checks if not c.ok]
    return execution


def regions(compiled: Compiled) -> list[Rect]:
    return [kernel.region for kernel in compiled.program.kernels]


@pytest.mark.parametrize(
    ("knob", "value", "made"),
    [
        ("clock_hz", 1e9, LATE), ("host_wavelets_per_cycle", 0.5, LATE), ("values_mb", 1, LATE),
        ("decode_rate", 1e5, LATE), ("loader_workers", 3, LATE), ("loader_prefetch", 1, LATE),
        ("host_channels", 1, LATE), ("activation_mb", 1, {"kernels", *PLACED}),
        ("spill_mb", 0, LATE), ("tile_loops", "off", LATE),
        ("micro_batches", 2, {"micro batches"}), ("embedding", "host", {"kernels", *PLACED}),
        ("seed", 7, LATE), ("samples", 7, LATE), ("slots", 3, LATE),
        ("max_chunks", 2, {"routing"}), ("route_order", "xy", {"routing"}),
        ("harvests_sparsity", "on", PLACED),
        ("hop_cycles", 3, PLACED), ("link_bits", 64, PLACED), ("sram_bytes", 12_000, PLACED),
        ("fp32_rate", 2, PLACED), ("aspect", 2, PLACED), ("square_weight", 60, PLACED),
        ("aspect_loss", 0, PLACED), ("block_loss", 0, PLACED), ("dtype", "fp16", PLACED),
        ("machine", "mesh-128x128", PLACED), ("fusion", "none", {"kernels", *PLACED}),
        ("fold_batch_norm", "off", {"passes", "kernels", "store", *PLACED}),
        ("global_pool", "off", {"passes", "kernels", "store", *PLACED}),
        ("join_experts", "off", {"passes", "kernels", "store", *PLACED}),
        ("weights", "int8", {"passes", "kernels", "store", *PLACED}),
    ],
)  # fmt: skip
def test_knob_makes_anew_what_its_stage_says(knob: str, value: str | float, made: set[str]) -> None:
    _, _, found = compile_twice("demo-mlp", apply_knob(MESH, knob, value))
    assert found == made


def test_a_spill_changes_the_ways_of_what_waits_outside_and_no_place() -> None:
    streaming = replace(MESH, mode="streaming")
    first, second, found = compile_twice(
        "demo-transformer", apply_knob(streaming, "spill_mb", 0), streaming
    )
    assert found == {
        "away", "streaming routing", "streaming requests", "streaming memory",
        "streaming conflicts",
    }  # fmt: skip
    assert second.program.kernels == first.program.kernels
    assert second.program.streams == first.program.streams
    gone = set(first.program.transfers) - set(second.program.transfers)
    new = set(second.program.transfers) - set(first.program.transfers)
    assert {t.port for t in gone} == {"host"}
    assert {t.port for t in new} == {"weights"}
    back = {t.tensor for t in new if t.comes_back}
    assert back == {t.tensor for t in new if t.leaves} == {t.tensor for t in gone}
    assert run(second).timeline.makespan > run(first).timeline.makespan


def test_stage_of_every_knob_is_covered_above() -> None:
    stages = {"passes", "kernels", "sizing", "placement", "routing", "memory", "timing",
              "values", "print"}  # fmt: skip
    assert {knob.stage for knob in KNOBS.values()} == stages


def test_clock_changes_nothing_but_the_clock() -> None:
    first, second, _ = compile_twice("demo-mlp", apply_knob(MESH, "clock_hz", 2e9))
    machine = second.program.machine
    assert machine.clock_hz == 2e9
    assert machine.name == "mesh-64x64[clock_hz=2000000000]"
    assert replace(second.program, machine=first.program.machine) == first.program
    ours, theirs = run(first).timeline.to_arrays(), run(second).timeline.to_arrays()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


def test_host_rate_slows_what_comes_from_the_host_and_moves_nothing() -> None:
    slow = apply_knob(MESH, "host_wavelets_per_cycle", 0.25)
    first, second, _ = compile_twice("demo-transformer", slow)
    assert regions(first) == regions(second)
    assert second.program.transfers == first.program.transfers
    assert run(second).timeline.makespan > run(first).timeline.makespan


def test_io_channels_bound_what_all_inputs_bring_together() -> None:
    first, second, _ = compile_twice("demo-transformer", apply_knob(MESH, "host_channels", 1))
    words = sum(t.legs[0].words * t.chunks for t in second.program.transfers if t.producer == HOST)
    ours, theirs = run(second), run(first)
    sent = ours.timeline.left[ours.timeline.chunk_start[len(second.program.transfers)] - 1]
    assert ours.timeline.makespan > theirs.timeline.makespan
    assert sent >= words * second.program.samples
    wide = apply_knob(MESH, "host_channels", 44)
    assert run(compile_twice("demo-transformer", wide)[1]).timeline.makespan == (
        theirs.timeline.makespan
    )


def test_a_loader_paces_the_run_by_its_rate_and_workers() -> None:
    graph, rate = model_graph("demo-mlp"), MESH.machine.clock_hz / 100_000
    slow = apply_knob(apply_knob(MESH, "decode_rate", rate), "samples", 6)
    spans = {}
    for workers in (1, 2, 3):
        compiled = compile_graph(graph, apply_knob(slow, "loader_workers", workers))
        spans[workers] = run(compiled).timeline
        assert compiled.program.loader is not None
        assert compiled.program.loader.cycles == 100_000
    rest = {workers: t.makespan - 600_000 // workers for workers, t in spans.items()}
    assert 0 < rest[1] < 20_000
    assert all(rest[1] <= each < 20_000 for each in rest.values())
    ahead = run(compile_graph(graph, apply_knob(slow, "loader_prefetch", 8)))
    assert ahead.timeline.makespan <= spans[1].makespan


def loaded(prefetch: int, decode: int, samples: int = 6) -> Execution:
    """Run a product of 32,768 input elements, a wavelet a cycle from the host, behind a loader."""
    shapes = {"x": (64, 512), "w0": (512, 4), "y": (64, 4)}
    graph = tiny_graph(shapes, Dot(inputs=("x", "w0"), outputs=("y",)))
    machine = replace(MESH.machine, host_wavelets_per_cycle=1.0)
    config = replace(
        MESH, machine=machine, decode_rate=machine.clock_hz / decode, loader_prefetch=prefetch,
        samples=samples,
    )  # fmt: skip
    return run(compile_graph(graph, config))


def test_a_second_sample_held_hides_what_leaves_and_a_third_nothing() -> None:
    periods = []
    for prefetch in (1, 2, 3, 9):
        timeline = loaded(prefetch, 40_000).timeline
        (period,) = set(np.diff(timeline.start[0]).tolist())
        periods.append(period)
    assert periods[1:] == [40_000] * 3
    assert periods[0] - 40_000 in (32_768, 32_769)  # a word a cycle, rates rounded down


def test_a_loader_too_slow_by_half_shows_half_of_the_time_as_wait_host() -> None:
    shapes = {"x": (512, 64), "w0": (64, 64), "y": (512, 64)}
    graph = tiny_graph(shapes, Dot(inputs=("x", "w0"), outputs=("y",)))
    mesh = replace(MESH, machine=generic_mesh(16, 16), samples=40)
    work = run(compile_graph(graph, mesh)).profiles["y"].length
    rate = mesh.machine.clock_hz / (2 * work)
    slow = run(compile_graph(graph, replace(mesh, decode_rate=rate)))
    starts = slow.timeline.start[0]
    assert np.diff(starts).tolist() == [2 * work] * 39
    waited = slow.fields.cause_sums(CAUSES.index("wait-host")).sum()
    # 39 waits between 40 samples; the first is fill
    assert waited == 39 * work * slow.program.kernels[0].region.area
    assert abs(39 * work / slow.timeline.makespan - 0.5) < 0.02
    assert "the host's loader holds" in slow.bottleneck.sentence


def test_hops_lengthen_the_way_of_every_transfer() -> None:
    first, second, _ = compile_twice("demo-mlp", apply_knob(MESH, "hop_cycles", 20))
    assert second.program.machine.hop_cycles == 20
    assert run(second).timeline.makespan > run(first).timeline.makespan


def test_wider_links_carry_fewer_wavelets() -> None:
    first, second, _ = compile_twice("demo-mlp", apply_knob(MESH, "link_bits", 128))
    pairs = zip(first.program.transfers, second.program.transfers, strict=True)
    words = [(a.chunks * a.legs[-1].words, b.chunks * b.legs[-1].words) for a, b in pairs]
    assert all(4 * b <= a + 8 for a, b in words)
    assert {leg.words for t in first.program.transfers for leg in t.legs} != {0}


def test_less_sram_takes_more_pes_for_the_largest_kernel() -> None:
    graph = model_graph("demo-transformer")
    free = compile_graph(graph, MESH)
    tight = compile_graph(graph, apply_knob(MESH, "sram_bytes", 9_000))
    assert tight.program.machine.sram_bytes == 9_000
    largest = max(row.sram_bytes for row in free.report.rows)
    assert largest > 9_000
    assert not tight.fits or max(row.sram_bytes for row in tight.report.rows) <= 9_000


def test_rate_belongs_to_its_dtype() -> None:
    graph = model_graph("demo-transformer")
    cycles = {}
    for name in ("fp32_rate", "fp16_rate"):
        compiled = compile_graph(graph, apply_knob(MESH, name, 16))
        cycles[name] = max(row.cycles for row in compiled.report.rows)
    plain = max(row.cycles for row in compile_graph(graph, MESH).report.rows)
    assert cycles["fp32_rate"] < plain
    assert cycles["fp16_rate"] == plain


def test_harvest_skips_products_with_zero_weights_and_moves_nothing() -> None:
    shapes = {"x": (8, 32), "w": (32, 16), "y": (8, 16)}
    graph = tiny_graph(shapes, Dot(inputs=("x", "w"), outputs=("y",)))
    weights = graph.constants["w"].copy()
    weights[:, ::2] = 0
    graph = replace(graph, constants={"w": weights})
    dense, sparse = (
        compile_graph(graph, apply_knob(MESH, "harvests_sparsity", value))
        for value in ("off", "on")
    )
    assert regions(dense) == regions(sparse)
    assert sparse.program.machine.name == "mesh-64x64[harvests_sparsity=1]"
    work = [run(c).fields.sums("cause:compute").sum() for c in (dense, sparse)]
    assert 0 < work[1] < work[0]


def test_aspect_limits_the_sides_of_places() -> None:
    _, second, _ = compile_twice("demo-cnn", apply_knob(MESH, "aspect", 1))
    assert run(second).timeline.makespan > 0
    first = compile_graph(model_graph("demo-cnn"), MESH)
    assert regions(first) != regions(second)


@pytest.mark.parametrize(
    ("model", "knob", "value"),
    [("gpt2_2l", "square_weight", "90"), ("demo-transformer", "aspect_loss", "60"),
     ("demo-transformer", "block_loss", "100")],
)  # fmt: skip
def test_objective_moves_places_and_changes_no_operation(model: str, knob: str, value: str) -> None:
    first, second, _ = compile_twice(model, apply_knob(LARGER, knob, value), LARGER)
    assert regions(first) != regions(second)
    assert [k.spec for k in first.program.kernels] == [k.spec for k in second.program.kernels]
    assert second.report.macs == first.report.macs
    run(second)


def test_unfused_every_operation_is_a_kernel_and_the_sums_are_the_same() -> None:
    first, second, _ = compile_twice("demo-mlp", apply_knob(MESH, "fusion", "none"))
    assert all(len(kernel.spec.ops) == 1 for kernel in second.program.kernels)
    count = sum(len(kernel.spec.ops) for kernel in first.program.kernels)
    assert len(second.program.kernels) == count
    assert second.report.macs == first.report.macs
    run(second)


@pytest.mark.parametrize("model", ["demo-transformer", "demo-cnn", "gpt2_2l", "convnext"])
@pytest.mark.parametrize(("knob", "value"), [("fusion", "none"), ("fusion", "activation+views"),
                                             ("route_order", "xy"), ("aspect", "1")])  # fmt: skip
def test_ledger_holds_whatever_the_knob(model: str, knob: str, value: str) -> None:
    run(compile_graph(model_graph(model), apply_knob(MESH, knob, value)))


def test_rows_first_moves_the_same_words_along_other_links() -> None:
    first, second, _ = compile_twice("demo-transformer", apply_knob(MESH, "route_order", "xy"))
    assert regions(first) == regions(second)
    inner = [(a, b) for a, b in zip(first.program.transfers, second.program.transfers, strict=True)
             if HOST not in (a.producer, *a.consumers)]  # fmt: skip
    assert any(a.legs != b.legs for a, b in inner)
    assert {leg.axis for a, b in inner for leg in b.legs[:1] if len(b.legs) == 3} <= {"x"}
    assert [(a.tensor, a.chunks, a.in_bytes) for a, _ in inner] == [
        (b.tensor, b.chunks, b.in_bytes) for _, b in inner
    ]


def test_figures_survive_another_machine_and_go_with_auto() -> None:
    config = apply_knob(apply_knob(MESH, "hop_cycles", 3), "machine", "wse3")
    assert config.machine.hop_cycles == 3
    assert config.machine.name == "wse3[hop_cycles=3]"
    assert apply_knob(config, "hop_cycles", "auto").machine == parse_machine("wse3")
    assert apply_knob(apply_knob(MESH, "hop_cycles", 3), "hop_cycles", "auto") == MESH
    assert ("hop_cycles", "set by hand, no source") in config.machine.sources


@pytest.mark.parametrize(
    "turn",
    [
        lambda c: apply_knob(c, "fusion", "bias"), lambda c: apply_knob(c, "route_order", "xy"),
        lambda c: apply_knob(c, "pin", "9x9 at 40,40", kernel="fc0"),
        lambda c: apply_knob(c, "link_bits", 16), lambda c: apply_knob(c, "aspect", 3),
    ],
)  # fmt: skip
def test_recompile_equals_a_fresh_compile(turn: Callable[[CompileConfig], CompileConfig]) -> None:
    _, again, _ = compile_twice("demo-mlp", turn(MESH))
    fresh = compile_graph(model_graph("demo-mlp"), turn(MESH))
    assert again.program == fresh.program
    assert again.report == fresh.report


def test_many_random_changes_end_where_a_fresh_compile_does() -> None:
    dice = np.random.default_rng(4)
    graph, cache, config = model_graph("demo-mlp"), StageCache(), MESH
    values: dict[str, tuple[str | int, ...]] = {
        "samples": (1, 5, "auto"), "slots": (1, 3, "auto"), "max_chunks": (1, 4, 8),
        "fusion": ("all", "none", "bias+views"), "route_order": ("yx", "xy"),
        "hop_cycles": (1, 4, "auto"), "link_bits": ("16", "auto"), "aspect": (2, "auto"),
        "dtype": ("fp16", "fp32"), "global_pool": ("on", "off"), "clock_hz": (10**9, "auto"),
    }  # fmt: skip
    for turn in range(40):
        name = list(values)[int(dice.integers(len(values)))]
        choice = values[name][int(dice.integers(len(values[name])))]
        config = apply_knob(config, name, choice)
        kept = compile_graph(graph, config, cache=cache)
        if turn % 4 == 3:
            fresh = compile_graph(graph, config)
            assert kept.program == fresh.program, (turn, name, choice)
