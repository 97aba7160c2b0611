"""Slots: what an unhindered run holds, and what keeps a skip connection alive."""

from __future__ import annotations

from dataclasses import replace

from engine.models import program_profiles
from engine.program import HOST, Transfer
from lowering.stages.slots import live_slots, needed_slots
from tests.factories.graphs import compiled_model
from tests.factories.programs import ACT, DOWN, UP, three_kernels

LENGTHS = {"up": UP, "act": ACT, "down": DOWN}


def test_chain_needs_no_more_than_the_least() -> None:
    assert needed_slots(three_kernels(samples=6).program, LENGTHS) == (2, 2, 2, 2)


def test_slow_reader_of_a_fast_path_holds_what_piles_up() -> None:
    """The skip past a long kernel holds a sample for each that is in work on the way."""
    program = three_kernels(samples=8).program
    h = program.transfers[1]
    skip = replace(h, id="skip", consumers=("down",), need=((0, 0),))
    longer = {"up": 50, "act": 400, "down": 50}
    gives = {HOST: 0, **longer}
    moved = tuple(
        replace(t, give=(gives[t.producer],) * 2) for t in (*program.transfers, skip)
    )
    slots = needed_slots(replace(program, transfers=moved), longer)
    assert slots[:4] == (2, 2, 2, 2)
    assert slots[4] == 2
    two_long = {"up": 400, "act": 400, "down": 400}
    gives = {HOST: 0, **two_long}
    far = tuple(
        replace(t, give=(gives[t.producer],) * 2, legs=t.legs if t.id != "r" else t.legs * 40)
        for t in (*program.transfers, skip)
    )
    assert needed_slots(replace(program, transfers=far), two_long)[4] >= 2


def edge(name: str, producer: str, consumer: str, chunks: int) -> Transfer:
    return Transfer(name, name, producer, (consumer,), (), chunks, 2, (2,))


def test_skip_beside_a_branch_holds_a_whole_sample_over_both_ends() -> None:
    transfers = [
        edge("in", HOST, "a", 8), edge("branch", "a", "b", 8), edge("skip", "a", "c", 8),
        edge("join", "b", "c", 8), edge("out", "c", HOST, 8),
    ]  # fmt: skip
    assert live_slots(transfers, 1, 1) == (1, 1, 7, 1, 1)
    assert live_slots(transfers, 1, 4) == (1, 1, 4, 1, 1)
    assert live_slots(transfers, 9, 1) == (9, 9, 9, 9, 9)


def test_slots_of_a_model_are_those_its_compile_asked_for() -> None:
    program = compiled_model("demo-transformer", "wse2").program
    lengths = {name: p.length for name, p in program_profiles(program).items()}
    slots = needed_slots(program, lengths)
    assert slots == tuple(t.in_slots[0] for t in program.transfers)
    assert max(slots) > 2
