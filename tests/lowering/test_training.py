"""Training steps where kernels take turns: state through the weight ports, optimizer, budget."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from engine.machine import MachineSpec, generic_mesh
from engine.program import HOST
from engine.run import Execution, execute
from engine.values import run_values
from lowering.amounts import amount
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.graph import Graph
from lowering.passes.phases import trained_state
from tests.factories.training import initial_inputs, step_graph, step_names
from tests.lowering.frontends.transformer.small import LLAMA, Seeded

MESH = CompileConfig(machine=generic_mesh(32, 32), mode="streaming", samples=2)


def compiled(name: str, **choices: object) -> Compiled:
    return compile_graph(step_graph(name), replace(MESH, **choices))  # type: ignore[arg-type]


@lru_cache(maxsize=2)
def longer_step() -> Graph:
    """A training step whose activations outweigh its weights: 4 sequences of 24 tokens."""
    sides = replace(LLAMA, layers=4, width=16, head_dim=4)
    load = ModelOptions(task="training", batch=4, sequence=24).resolved()
    return build_transformer("longer", sides, load, Seeded())


def run(made: Compiled) -> Execution:
    execution = execute(made.program, made.store, every_step=True)
    assert [check for check in execution.ledger.checks if not check.ok] == []
    return execution


def passed(made: Compiled, port: str) -> int:
    """Words a sample from the wafer out through a port."""
    return sum(
        t.legs[0].words * t.chunks
        for t in made.program.transfers
        if t.port == port and HOST in t.consumers
    )


def test_state_comes_as_weights_and_leaves_through_their_ports() -> None:
    made = compiled("mlp")
    graph, names = step_graph("mlp"), step_names(step_graph("mlp"))
    held = {name for kernel in made.program.kernels for name in kernel.weights}
    assert held >= set(names.state)
    from_host = {t.tensor for t in made.program.transfers if t.producer == HOST}
    assert from_host == set(graph.inputs) - set(names.state)
    leaving = {t.tensor for t in made.program.transfers if t.port == "weights"}
    assert leaving == set(names.new_state)
    # each weight and both its moments go out once a sample
    elements = sum(graph.values[name].elements for name in names.new_state)
    assert passed(made, "weights") == elements
    run(made)


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l"])
@pytest.mark.parametrize("optimizer", ["wafer", "host"])
@pytest.mark.parametrize("budget", [None, 0.001])
def test_values_are_those_of_the_pipeline(name: str, optimizer: str, budget: float | None) -> None:
    graph = step_graph(name)
    inputs = initial_inputs(graph)
    plain = compiled(name, mode="pipeline")
    theirs = run_values(plain.program, plain.store, inputs).outputs()
    made = compiled(name, optimizer=optimizer, activation_mb=budget)
    run(made)
    ours = run_values(made.program, made.store, inputs).outputs()
    for output in graph.outputs:
        scale = np.abs(theirs[output]).max()
        assert np.abs(ours[output] - theirs[output]).max() <= 1e-5 * scale, output


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l"])
def test_with_the_optimizer_outside_only_gradients_leave_and_no_moment_comes(name: str) -> None:
    here, there = compiled(name), compiled(name, optimizer="host")
    graph, names = step_graph(name), step_names(step_graph(name))
    moments = {n for n in names.state if n.startswith(("ms_", "vs_")) or n == "t"}
    assert moments
    for kernel in there.program.kernels:
        assert not moments.intersection((*kernel.reads, *kernel.weights))
        assert ("phase", "optimizer") not in kernel.tags
    outside = {name for work in there.program.outside for name in work.writes}
    assert outside >= set(names.new_state)
    weights = sum(graph.values[n].elements for n in names.state if n.startswith("plist_"))
    # a tied table has two gradients, from the look-up and from the head: they are added outside
    tied = graph.values["plist_0"].elements if name == "gpt2_2l" else 0
    assert passed(there, "weights") == weights + tied
    assert passed(here, "weights") > 2.9 * weights
    assert there.report.notes[0].startswith("optimizer host: ")
    assert f"{amount(4 * (weights + tied))} of gradients" in there.report.notes[0]
    ours, theirs = run(there).timeline, run(here).timeline
    assert ours.makespan < theirs.makespan
    leaving = [i for i, t in enumerate(there.program.transfers) if t.port == "weights"]
    assert all(ours.left[ours.chunk_start[i]] > 0 for i in leaving)


def slow_ports() -> MachineSpec:
    return replace(generic_mesh(32, 32), weight_wavelets_per_cycle=0.25, weight_latency_cycles=0)


@pytest.mark.parametrize("prefetch", [0, 1])
def test_a_gradient_has_left_before_its_sram_is_needed_again(prefetch: int) -> None:
    made = compiled("gpt2_2l", machine=slow_ports(), optimizer="host", prefetch=prefetch)
    program, timeline = made.program, run(made).timeline
    place = {kernel.id: index for index, kernel in enumerate(program.kernels)}
    held = 0
    for index, transfer in enumerate(program.transfers):
        if transfer.port != "weights":
            continue
        chunks = slice(*timeline.chunk_start[index : index + 2])
        gone = timeline.arrived[chunks].reshape(2, -1).max(axis=1)
        if transfer.until:
            reader = place[transfer.until]
            assert reader == place[transfer.producer] + 2 + prefetch
            starts = timeline.start[reader]
            assert (starts >= gone).all()
            held += int((starts == gone).sum())
        else:
            first = timeline.start[len(program.kernels)]
            assert first[1] > gone[0]
    assert held > 0


def test_a_sample_of_gradients_takes_its_words_over_the_ports_rate() -> None:
    made = compiled("gpt2_2l", machine=slow_ports(), optimizer="host", samples=1)
    timeline, program = run(made).timeline, made.program
    leaving = [i for i, t in enumerate(program.transfers) if t.port == "weights"]
    ends = [timeline.left[timeline.chunk_start[i + 1] - 1] for i in leaving]
    starts = [timeline.started[timeline.chunk_start[i]] for i in leaving]
    words = passed(made, "weights")
    assert max(ends) - min(starts) >= 4 * words
    assert timeline.makespan >= 4 * words


def test_a_budget_lowers_the_live_bytes_by_what_it_says_and_adds_what_the_ledger_says() -> None:
    graph = longer_step()
    before = compile_graph(graph, MESH)
    after = compile_graph(graph, apply_knob(MESH, "activation_mb", "0.001"))
    note = after.report.notes[0]
    assert note.startswith("activation_mb: ")
    ours, theirs = run(after), run(before)
    laws = {check.name: check.detail for check in ours.ledger.checks}
    again = after.report.recomputed_macs
    assert after.report.macs == before.report.macs
    assert again > 0
    assert laws["operations match"] == (
        f"{before.report.macs + again:,} multiply-accumulates: {before.report.macs:,} of the "
        f"graph and {again:,} recomputed"
    )
    said = live_words(note)
    assert peak(before) == said[0]
    assert peak(after) == said[1]
    for made, shown in ((before, said[0]), (after, said[1])):
        assert f"{made.report.activations.peak_bytes / 1e6:,.4g}" == shown
    assert float(said[1]) < 0.7 * float(said[0])
    assert peak_slots(ours) < 0.8 * peak_slots(theirs)
    inputs = {n: np.ones(graph.values[n].shape, graph.values[n].dtype) for n in graph.inputs}
    first = run_values(before.program, before.store, inputs).outputs()
    second = run_values(after.program, after.store, inputs).outputs()
    for name, array in first.items():
        np.testing.assert_allclose(second[name], array, rtol=0, atol=1e-6 * np.abs(array).max())


def live_words(note: str) -> tuple[str, str]:
    """The two peaks of a note, as text."""
    shown = note.split("alive at once ")[1].split(" MB")
    return shown[0], shown[1].removeprefix(" -> ")


def peak(made: Compiled) -> str:
    """Most MB alive at once in program order, counted from the program's own kernels."""
    kernels = made.program.kernels
    sizes = {tensor.id: 4 * tensor.elements for tensor in made.program.tensors}
    last = {name: turn for turn, kernel in enumerate(kernels) for name in kernel.reads}
    born = {name: turn for turn, kernel in enumerate(kernels) for name in kernel.writes}
    alive = [
        sum(sizes[n] for n, turn in born.items() if n in last and turn <= at <= last[n])
        for at in range(len(kernels))
    ]
    return f"{max(alive) / 1e6:,.4g}"


def peak_slots(execution: Execution) -> int:
    """Most bytes of slots that hold data in one step, over the wafer."""
    occupancy, program = execution.fields.occupancy, execution.program
    index = {kernel.id: i for i, kernel in enumerate(program.kernels)}
    total = np.zeros(execution.timeline.steps, np.int64)
    for buffer in program.buffers:
        if buffer.role in ("in slot", "out slot"):
            area, kernel = program.kernel(buffer.kernel).region.area, index[buffer.kernel]
            held = [occupancy.live_bytes(buffer, kernel, step) for step in range(len(total))]
            total += np.array(held) * area
    return int(total.max())


def test_state_of_a_config_s_training_step_streams_too() -> None:
    graph = longer_step()
    state, new = trained_state(graph)
    made = compile_graph(graph, MESH)
    assert state == {n for n in graph.inputs if n.endswith(("/m", "/v"))}
    assert {t.tensor for t in made.program.transfers if t.port == "weights"} == new
    assert new == set(graph.outputs) - {"loss"}


def test_the_report_names_what_is_alive_at_the_peak_and_how_long_it_lives() -> None:
    made = compile_graph(longer_step(), MESH)
    found, kernels = made.report.activations, [kernel.id for kernel in made.program.kernels]
    turn = kernels.index(found.peak_kernel)
    peak_rows = [row for row in found.rows if row.at_peak]
    assert sum(row.bytes for row in peak_rows) == found.peak_bytes
    for row in found.rows:
        born, dead = kernels.index(row.made_by), kernels.index(row.last_read_by)
        assert row.turns == dead - born + 1
        assert row.at_peak == (born <= turn <= dead)
        assert row.tensor in made.program.kernels[dead].reads
    assert {row.phase for row in found.rows} >= {"forward", "backward"}
    text = made.report.to_text()
    assert f"at most {found.peak_bytes:,} B over the wafer, in the turn of" in text
    assert max(peak_rows, key=lambda row: row.bytes).tensor[:32] in text
    pipeline = compile_graph(longer_step(), replace(MESH, mode="pipeline"))
    assert pipeline.report.activations.rows == ()
