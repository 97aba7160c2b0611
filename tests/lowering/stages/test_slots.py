"""Slots: what an unhindered run holds, and what keeps a skip connection alive."""

from __future__ import annotations

from dataclasses import replace

from engine.machine import parse_machine
from engine.models import program_profiles
from engine.program import HOST, Transfer
from engine.run import execute
from lowering.compiler import compile_graph
from lowering.config import CompileConfig
from lowering.stages.slots import live_slots, needed_slots
from tests.factories.graphs import compiled_model, model_graph
from tests.factories.programs import ACT, DOWN, UP, three_kernels

LENGTHS = {"up": UP, "act": ACT, "down": DOWN}


def test_chain_needs_no_more_than_the_least() -> None:
    assert needed_slots(three_kernels(samples=6).program, LENGTHS) == (2, 2, 2, 2)


def test_skip_past_slow_links_holds_every_sample_that_is_on_the_way() -> None:
    """100 cycles a hop: a sample's skip is taken at 0, `down` ends with it at 811."""
    small = three_kernels(samples=12)
    machine = replace(small.program.machine, hop_cycles=100)
    skip = replace(small.program.transfers[1], id="skip", consumers=("down",))
    program = replace(small.program, machine=machine, transfers=(*small.program.transfers, skip))
    # `act` runs [312, 331), r is on its way [331, 743), `down` runs [743, 811); one sample each 131
    assert needed_slots(program, LENGTHS) == (3, 3, 4, 2, 7)


def edge(name: str, producer: str, consumer: str, chunks: int) -> Transfer:
    return Transfer(name, name, producer, (consumer,), (), chunks, 2, (2,))


def test_skip_beside_a_branch_holds_a_whole_sample_over_both_ends() -> None:
    transfers = [
        edge("in", HOST, "a", 8), edge("branch", "a", "b", 8), edge("skip", "a", "c", 8),
        edge("join", "b", "c", 8), edge("out", "c", HOST, 8),
    ]  # fmt: skip
    assert live_slots(transfers, 1, 1) == (1, 1, 7, 7, 1)
    assert live_slots(transfers, 1, 4) == (1, 1, 4, 4, 1)
    assert live_slots(transfers, 9, 1) == (9, 9, 9, 9, 9)


def test_branches_that_part_further_back_do_not_deadlock() -> None:
    """Queries stream into scores beside keys that are needed whole; both come from one kernel."""
    config = CompileConfig(machine=parse_machine("mesh-25x64"), in_slots=1, out_slots=1)
    compiled = compile_graph(model_graph("demo-transformer"), config)
    queries = next(t for t in compiled.program.transfers if t.tensor == "h0/attn/q/turned")
    assert queries.in_slots[0] + queries.out_slots >= queries.chunks > 2
    assert execute(compiled.program, compiled.store).ledger.ok


def test_slots_of_a_model_are_those_its_compile_asked_for() -> None:
    program = compiled_model("demo-transformer", "wse2").program
    lengths = {name: p.length for name, p in program_profiles(program).items()}
    slots = needed_slots(program, lengths)
    assert slots == tuple(t.in_slots[0] for t in program.transfers)
    assert max(slots) > 2
