"""The compiler as a whole: equal twice, cached by stage, what-ifs, caps, defects, cancelling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.dot.spec import Dot
from engine.machine import parse_machine
from engine.program import HOST
from engine.progress import Cancelled, Progress, ProgressState
from engine.run import execute
from lowering.cache import StageCache
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.stages.plan import DoesNotFit
from tests.factories.graphs import (
    DEMO_NAMES,
    MODEL_NAMES,
    compiled_model,
    model_graph,
    tiny_graph,
)

MESH = CompileConfig(machine=parse_machine("mesh-64x64"))


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l", "convnext", "demo-transformer"])
def test_two_compiles_give_equal_programs_and_timelines(name: str) -> None:
    first, second = (compile_graph(model_graph(name), MESH) for _ in range(2))
    assert first.program == second.program
    assert hash(first.program) == hash(second.program)
    assert first.report == second.report
    ours, theirs = (execute(c.program, c.store).timeline.to_arrays() for c in (first, second))
    for array in ours:
        np.testing.assert_array_equal(ours[array], theirs[array], err_msg=array)


@pytest.mark.parametrize("machine", ["wse2", "mesh-64x64"])
@pytest.mark.parametrize("name", [*MODEL_NAMES, *(f"demo-{name}" for name in DEMO_NAMES)])
def test_regions_are_apart_inside_the_grid_and_as_large_as_their_tilings(
    name: str, machine: str
) -> None:
    program = compiled_model(name, machine).program
    taken = np.zeros((program.machine.rows, program.machine.cols), np.int64)
    for kernel in program.kernels:
        tiling, region = kernel.tiling, kernel.region
        assert (region.rows, region.cols) == (tiling.m_parts * tiling.k_parts, tiling.n_parts)
        assert region.end_row <= program.machine.rows
        assert region.end_col <= program.machine.cols
        taken[region.slices()] += 1
    assert taken.max() == 1
    assert taken.sum() == compiled_model(name, machine).report.pes_used


def test_program_names_all_it_uses() -> None:
    program = compiled_model("bert", "wse2").program
    kernels = {kernel.id for kernel in program.kernels}
    assert len(kernels) == len(program.kernels)
    tensors = {tensor.id for tensor in program.tensors}
    for kernel in program.kernels:
        assert {*kernel.reads, *kernel.writes, *kernel.weights} <= tensors
        assert kernel.origin
    for transfer in program.transfers:
        assert {transfer.producer, *transfer.consumers} <= kernels | {HOST}
        assert transfer.tensor in tensors
    flows = kernels | {transfer.id for transfer in program.transfers}
    assert {term.flow for c in program.conflicts for term in c.terms} <= flows
    assert {tensor.role for tensor in program.tensors} >= {"input", "output", "weight"}


def stages_made(before: CompileConfig, after: CompileConfig) -> tuple[Compiled, Compiled, set[str]]:
    """Compile twice with one memory; return both and the stages that the second made anew."""
    cache, graph = StageCache(), model_graph("demo-transformer")
    first = compile_graph(graph, before, cache=cache)
    known = set(cache._entries)
    second = compile_graph(graph, after, cache=cache)
    return first, second, {str(key[0]) for key in set(cache._entries) - known}  # type: ignore[index]


def regions(compiled: Compiled) -> list[object]:
    return [kernel.region for kernel in compiled.program.kernels]


@pytest.mark.parametrize(("knob", "value"), [("samples", 7), ("slots", 3)])
def test_knob_of_late_stages_makes_no_placement_and_no_routes(knob: str, value: int) -> None:
    first, second, made = stages_made(MESH, apply_knob(MESH, knob, value))
    assert made == set()
    assert regions(first) == regions(second)
    assert first.program != second.program


def test_chunks_knob_keeps_the_placement() -> None:
    first, second, made = stages_made(MESH, apply_knob(MESH, "max_chunks", 2))
    assert made == {"routing"}
    assert regions(first) == regions(second)
    assert max(t.chunks for t in second.program.transfers) == 2


def test_machine_knob_keeps_passes_and_weights() -> None:
    _, second, made = stages_made(MESH, apply_knob(MESH, "machine", "wse2"))
    assert made == {"placement", "routing"}
    assert second.program.machine.name == "wse2"


def test_cap_is_kept_and_costs_cycles() -> None:
    graph = model_graph("mlp")
    free = compile_graph(graph, MESH)
    widest = max(free.program.kernels, key=lambda kernel: kernel.region.area)
    assert widest.region.area > 12
    capped = compile_graph(graph, apply_knob(MESH, "pe_cap", 12, kernel=widest.id))
    assert capped.program.kernel(widest.id).region.area <= 12
    cycles = {row.name: row.cycles for row in free.report.rows}
    slower = {row.name: row.cycles for row in capped.report.rows}
    assert slower[widest.id] > cycles[widest.id]


def test_samples_default_to_four_or_twice_the_pipeline() -> None:
    graph = tiny_graph(
        {"x": (4, 6), "w": (6, 5), "y": (4, 5)}, Dot(inputs=("x", "w"), outputs=("y",))
    )
    assert compile_graph(graph, MESH).program.samples == 2
    assert compile_graph(model_graph("mlp"), MESH).program.samples == 4
    assert compile_graph(graph, replace(MESH, samples=9)).program.samples == 9


def test_one_slot_and_one_chunk_still_finish() -> None:
    config = apply_knob(apply_knob(MESH, "slots", 1), "max_chunks", 8)
    for name in ("demo-transformer", "convnext"):
        compiled = compile_graph(model_graph(name), config)
        run = execute(compiled.program, compiled.store)
        assert run.ledger.ok
        assert run.timeline.makespan > 0


def test_program_that_does_not_fit_says_so_and_still_runs() -> None:
    compiled = compiled_model("demo-transformer", "mesh-5x5")
    assert not compiled.fits
    assert not compiled.program.would_run
    run = execute(compiled.program, compiled.store)
    assert run.ledger.ok
    assert run.timeline.makespan > 0


def test_program_that_fits_is_marked_as_running() -> None:
    for name in ("mlp", "bert", "demo-gpt2-small"):
        compiled = compiled_model(name, "wse2")
        assert compiled.fits
        assert compiled.program.would_run


def test_grid_without_room_names_a_machine_that_has_it() -> None:
    with pytest.raises(DoesNotFit, match="it would fit on mesh-64x64") as caught:
        compile_graph(
            model_graph("demo-transformer"), replace(MESH, machine=parse_machine("mesh-4x4"))
        )
    assert caught.value.exit_code == 1
    assert "PEs needed, 16 PEs there" in str(caught.value)


def test_dead_pes_get_no_work() -> None:
    dead = ((0, 0), (10, 10), (31, 40))
    machine = replace(MESH.machine, defects=dead)
    compiled = compile_graph(model_graph("bert"), replace(MESH, machine=machine))
    for kernel in compiled.program.kernels:
        assert not any(kernel.region.contains(row, col) for row, col in dead)
    assert execute(compiled.program, compiled.store).ledger.ok


def test_stages_report_and_stop_when_asked() -> None:
    seen: list[str] = []

    def report(state: ProgressState) -> None:
        seen.append(state.stage)

    compile_graph(model_graph("mlp"), MESH, Progress(report))
    assert list(dict.fromkeys(seen)) == ["sizing", "placement", "routing", "memory"]
    with pytest.raises(Cancelled):
        compile_graph(model_graph("mlp"), MESH, Progress(cancelled=lambda: True))


def test_half_precision_moves_half_the_words() -> None:
    single = compiled_model("mlp", "mesh-64x64")
    half = compile_graph(model_graph("mlp"), apply_knob(MESH, "dtype", "fp16"))
    pairs = zip(single.program.transfers, half.program.transfers, strict=True)
    whole = [(a.chunks * a.legs[0].words, b.chunks * b.legs[0].words) for a, b in pairs]
    assert all(b < a for a, b in whole)
    assert {t.storage for t in half.program.tensors} == {"fp16"}
