"""What overfills the SRAM where kernels take turns: everybody's buffers of the fullest turn."""

from __future__ import annotations

from dataclasses import replace

from engine.machine import generic_mesh
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.graph import Graph
from lowering.turn_overflow import HOLDERS
from tests.factories.graphs import model_graph
from tests.factories.training import step_graph
from tests.lowering.frontends.transformer.small import LLAMA, Seeded

HOST, AGAIN, FEWER = "knob optimizer=host", "knob activation_mb", "--sequence"


def short(graph: Graph, side: int, sram: int, optimizer: str = "wafer") -> Compiled:
    """Compile a model for a mesh on which it does not fit."""
    machine = replace(generic_mesh(side, side), sram_bytes=sram)
    config = CompileConfig(
        machine=machine, mode="streaming", samples=1, optimizer=optimizer, spill_mb=1e9
    )
    made = compile_graph(graph, config)
    assert not made.fits
    return made


def longer_step() -> Graph:
    """A training step whose activations outweigh its weights: 4 sequences of 24 tokens."""
    sides = replace(LLAMA, layers=4, width=16, head_dim=4)
    load = ModelOptions(task="training", batch=4, sequence=24).resolved()
    return build_transformer("longer", sides, load, Seeded())


def told(made: Compiled) -> str:
    return " | ".join(made.report.overflows[0].levers)


def test_holders_are_those_of_the_fullest_turn_whoever_owns_them() -> None:
    made = short(step_graph("gpt2_2l"), 12, 12_000)
    (overflow,) = made.report.overflows
    turns = range(len(made.program.kernels))
    live = [
        sum(b.size for b in made.program.buffers if b.live[0] <= turn <= b.live[1])
        for turn in turns
    ]
    assert sum(size for _, size in overflow.holders) == max(live)
    named = [holder for holder, _ in overflow.holders if ": " in holder]
    assert len(named) <= HOLDERS
    assert (len(overflow.holders) > len(named)) == (len(named) == HOLDERS)
    names = {holder.split(": ", 1)[1].split(" (")[0].split(" of ")[0] for holder in named}
    owners = {b.kernel for b in made.program.buffers if b.name in names}
    assert len(owners) > 3


def test_a_training_step_is_told_of_its_optimizer_and_its_activations() -> None:
    assert HOST in told(short(step_graph("gpt2_2l"), 12, 12_000))
    levers = told(short(longer_step(), 8, 6_500, optimizer="host"))
    assert AGAIN in levers
    assert HOST not in levers


def test_a_model_that_only_predicts_is_not_told_to_train_otherwise() -> None:
    levers = told(short(model_graph("demo-transformer"), 8, 9_000))
    assert HOST not in levers
    assert AGAIN not in levers
    assert "use a machine with more PEs" in levers
