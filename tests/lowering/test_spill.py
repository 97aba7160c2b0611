"""Activations that wait outside: which leave, in what order of events and at what rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.causes import CAUSES
from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Reshape
from engine.kernels.views import views
from engine.machine import DTYPE_BYTES, MachineSpec, generic_mesh
from engine.program import Program, Transfer
from engine.run import Execution, execute
from engine.values import run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, apply_knob
from lowering.evaluate import default_inputs
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.graph import Graph
from lowering.passes.fuse import fuse
from lowering.stages.plan import plan_kernels
from lowering.stages.spill import plan_away
from tests.factories.graphs import model_graph, tiny_graph
from tests.factories.training import initial_inputs, step_graph
from tests.lowering.frontends.transformer.small import LLAMA, Seeded

MESH = CompileConfig(machine=generic_mesh(32, 32), mode="streaming", samples=2)
DEPTH = 8
WIDTH = 6


def ladder() -> Graph:
    """x -> a0 -> a1 -> ... -> a7 -> y, in which y reads a0 again and a5 reads a2 again."""
    names = [f"a{i}" for i in range(DEPTH)]
    square = (WIDTH, WIDTH)
    shapes = dict.fromkeys(("x", *names, "t", "u", "b", "y"), square)
    ops: list[Dot | Reshape] = []
    for before, name in zip(("x", *names), names, strict=False):
        shapes[f"w_{name}"] = square
        ops.append(Dot(inputs=(before, f"w_{name}"), outputs=(name,)))
    ops[5] = Dot(inputs=("a4", "a2"), outputs=("a5",))
    ops.append(Reshape(inputs=("a7",), outputs=("t",), shape=square))
    ops.append(Dot(inputs=("a0", "t"), outputs=("y",)))
    return tiny_graph(shapes, *ops)


def planned(budget: float, prefetch: int = 0) -> frozenset[tuple[str, str]]:
    """Return what waits outside of the ladder in fp16; a tensor has 72 bytes."""
    graph = ladder()
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = plan_kernels(fuse(graph), shapes)
    return plan_away(plan.drafts, shapes, "fp16", prefetch, graph.outputs, budget)


def run(made: Compiled) -> Execution:
    execution = execute(made.program, made.store, every_step=True)
    assert [check for check in execution.ledger.checks if not check.ok] == []
    return execution


def moved(program: Program) -> list[tuple[int, int, Transfer]]:
    """Return (index of its way out, index of its way back, way back) of all that comes back."""
    root = {name: name for kernel in program.kernels for name in kernel.writes}
    for kernel in program.kernels:
        root.update(views(kernel.spec))
    away = {t.tensor for t in program.transfers if t.comes_back}
    leaving = [
        (root[t.tensor], i) for i, t in enumerate(program.transfers)
        if t.leaves and t.tensor in away
    ]  # fmt: skip
    assert len(dict(leaving)) == len(leaving)
    out = dict(leaving)
    return [(out[root[t.tensor]], i, t) for i, t in enumerate(program.transfers) if t.comes_back]


def words(transfer: Transfer) -> int:
    """Wavelets over the border, a sample."""
    return transfer.legs[0].words * transfer.chunks


def test_what_is_outside_longest_leaves_and_only_as_much_as_must() -> None:
    # turns of a4 and a5 hold four: a0 for y, a2 for a5 and their own two neighbours
    assert planned(4 * 72) == frozenset()
    assert planned(3 * 72) == {("a0", "y")}
    # now a2 makes room in the turn of a4, the only one in which it can be outside
    assert planned(2 * 72) == {("a0", "y"), ("a2", "a5")}


def test_the_more_weights_are_prefetched_the_longer_the_way_must_be() -> None:
    # it stays for 1 + prefetch more turns, and comes back as many turns before its reader
    assert planned(0, prefetch=1) == {("a0", "y")}
    assert planned(0, prefetch=2) == {("a0", "y")}
    assert planned(0, prefetch=3) == frozenset()


def test_outputs_never_come_back() -> None:
    graph = ladder()
    shapes = {name: value.shape for name, value in graph.values.items()}
    plan = plan_kernels(fuse(graph), shapes)
    away = plan_away(plan.drafts, shapes, "fp16", 0, (*graph.outputs, "a0"), 0)
    assert away == {("a2", "a5")}


@pytest.mark.parametrize("name", ["gpt2_2l", "mlp", "demo-transformer"])
@pytest.mark.parametrize("optimizer", ["wafer", "host"])
def test_values_are_the_same_bit_for_bit(name: str, optimizer: str) -> None:
    trains = name != "demo-transformer"
    graph = step_graph(name) if trains else model_graph(name)
    inputs = initial_inputs(graph) if trains else default_inputs(graph)
    config = replace(MESH, optimizer=optimizer)
    found = []
    for budget in (None, 0.0):
        made = compile_graph(graph, replace(config, spill_mb=budget))
        assert bool(moved(made.program)) == (budget == 0.0)
        run(made)
        found.append(run_values(made.program, made.store, inputs).outputs())
    for output in graph.outputs:
        assert np.array_equal(found[0][output], found[1][output]), output


@pytest.mark.parametrize("prefetch", [0, 1, 2])
def test_it_has_left_before_its_sram_is_needed_and_before_it_comes_back(prefetch: int) -> None:
    config = replace(MESH, spill_mb=0.0, prefetch=prefetch)
    made = compile_graph(step_graph("gpt2_2l"), config)
    program, timeline = made.program, run(made).timeline
    place = {kernel.id: index for index, kernel in enumerate(program.kernels)}

    def of_sample(column: np.ndarray, transfer: int) -> np.ndarray:
        chunks = column[slice(*timeline.chunk_start[transfer : transfer + 2])]
        return chunks.reshape(program.samples, -1)

    assert moved(program)
    for out, back, transfer in moved(program):
        gone = of_sample(timeline.arrived, out).max(axis=1)
        until = place[program.transfers[out].until]
        assert until == place[program.transfers[out].producer] + 2 + prefetch
        assert until <= place[transfer.after]
        assert (timeline.start[until] >= gone).all()
        began = of_sample(timeline.started, back).min(axis=1)
        assert (began >= timeline.end[place[transfer.after]]).all()
        assert (began >= gone).all()
        first = of_sample(timeline.arrived, back)[:, 0]
        assert (timeline.start[place[transfer.consumers[0]]] >= first).all()


def test_sram_holds_it_only_in_its_turns() -> None:
    program = compile_graph(step_graph("gpt2_2l"), replace(MESH, spill_mb=0.0)).program
    place = {kernel.id: index for index, kernel in enumerate(program.kernels)}
    for out, _, transfer in moved(program):
        name, reader = transfer.tensor, transfer.consumers[0]
        (held,) = [b for b in program.buffers if (b.kernel, b.role, b.name) == (
            reader, "in slot", name)]  # fmt: skip
        assert held.live == (place[transfer.after] + 1, place[reader])
        maker = program.transfers[out].producer
        kept = [b for b in program.buffers if (b.kernel, b.role) == (maker, "out slot")]
        near = [place[c] for t in program.transfers if t.producer == maker
                for c in t.consumers if c]  # fmt: skip
        gone = [place[t.until] - 1 for t in program.transfers if t.producer == maker and t.until]
        assert max(b.live[1] for b in kept) == max([*gone, *near])
        assert place[reader] not in near


def slow_ports(rate: float) -> MachineSpec:
    return replace(
        generic_mesh(32, 32), weight_wavelets_per_cycle=rate, weight_latency_cycles=0
    )  # fmt: skip


@pytest.mark.parametrize("rate", [0.25, 0.5])
def test_ways_out_and_back_take_their_words_over_the_ports_rate(rate: float) -> None:
    config = CompileConfig(
        machine=slow_ports(rate), mode="streaming", samples=1, spill_mb=0.0, prefetch=0
    )
    made = compile_graph(ladder(), config)
    program, timeline = made.program, run(made).timeline
    place = {kernel.id: index for index, kernel in enumerate(program.kernels)}
    (row,) = [i for i, s in enumerate(program.streams, len(place)) if s.kernel == "a6"]
    arriving = int(timeline.end[row, 0] - timeline.start[row, 0])
    assert arriving == WIDTH * WIDTH / rate
    found = {}
    for out, back, transfer in moved(program):
        assert program.transfers[out].chunks == transfer.chunks == 1
        assert words(transfer) == WIDTH * WIDTH
        first, last = int(timeline.chunk_start[out]), int(timeline.chunk_start[back])
        assert timeline.left[first] - timeline.started[first] == WIDTH * WIDTH / rate
        gate = int(timeline.end[place[transfer.after], 0])
        found[transfer.tensor] = int(timeline.left[last]) - gate
    # the weights of a6 come first: they too may arrive once a4 has ended
    assert found == {"a0": WIDTH * WIDTH / rate, "a2": arriving + WIDTH * WIDTH / rate}


def test_weights_go_first_through_the_ports() -> None:
    config = replace(MESH, machine=slow_ports(0.25), spill_mb=0.0)
    made = compile_graph(step_graph("gpt2_2l"), config)
    execution = run(made)
    timeline, program = execution.timeline, made.program
    held_back = 0
    for place in range(len(program.streams)):
        row = len(program.kernels) + place
        for sample in range(program.samples):
            start, end = int(timeline.start[row, sample]), int(timeline.end[row, sample])
            for _, back, _transfer in moved(program):
                assert timeline.moved(back, start) == timeline.moved(back, end)
                chunks = slice(*timeline.chunk_start[back : back + 2])
                begun = (timeline.started[chunks] < end) & (timeline.left[chunks] > start)
                held_back += int(begun.sum())
    assert held_back > 0
    waited = execution.fields.cause_sums(CAUSES.index("wait-weights")).sum()
    assert waited > 0


def longer_step() -> Graph:
    """A training step whose activations outweigh its weights: 4 sequences of 24 tokens."""
    sides = replace(LLAMA, layers=4, width=16, head_dim=4)
    load = ModelOptions(task="training", batch=4, sequence=24).resolved()
    return build_transformer("longer", sides, load, Seeded())


def test_auto_lets_wait_outside_what_would_overfill_the_sram() -> None:
    machine = replace(generic_mesh(8, 8), sram_bytes=6_500)
    config = CompileConfig(machine=machine, mode="streaming", samples=1, optimizer="host")
    kept = compile_graph(longer_step(), apply_knob(config, "spill_mb", "1000"))
    assert not kept.fits
    made = compile_graph(longer_step(), config)
    assert made.fits
    run(made)
    alive = made.report.activations
    assert alive.peak_bytes < kept.report.activations.peak_bytes
    left, back = alive.left_bytes, alive.back_bytes
    out = {t.tensor for _, _, t in moved(made.program)}
    assert out == {row.tensor for row in alive.outside}
    assert left == sum(words(made.program.transfers[i]) for i in {i for i, _, _ in moved(
        made.program)}) * 4  # fmt: skip
    assert back >= left
    (line,) = [line for line in alive.lines() if "wait outside" in line]
    assert f"{len(out):,} activations" in line
    assert f"{left:,} B out" in line


def test_the_report_counts_one_that_waits_outside_and_many() -> None:
    budget = 3 * WIDTH * WIDTH * DTYPE_BYTES["fp32"] / 1e6
    config = replace(MESH, prefetch=0, storage="fp32")
    for spill, told in (
        (budget, "1 activation waits outside"),
        (0.0, "2 activations wait outside"),
    ):
        alive = compile_graph(ladder(), replace(config, spill_mb=spill)).report.activations
        assert sum(line.startswith(f"{told} between turns (knob") for line in alive.lines()) == 1


def test_a_model_that_fits_keeps_all_on_the_wafer() -> None:
    assert not moved(compile_graph(step_graph("gpt2_2l"), MESH).program)


def test_the_budget_bounds_what_is_alive() -> None:
    graph = step_graph("gpt2_2l")
    before = compile_graph(graph, MESH).report.activations
    budget = before.peak_bytes * 0.75
    after = compile_graph(graph, replace(MESH, spill_mb=budget / 1e6)).report.activations
    assert 0 < after.peak_bytes <= budget
    assert after.outside
    for row in after.outside:
        assert row.away > 0
        assert row.turns + row.away == row.stays[-1][1] - row.stays[0][0] + 1
    assert sum(after.alive(len(compile_graph(graph, MESH).program.kernels))) == sum(
        row.bytes * row.turns for row in after.rows
    )
