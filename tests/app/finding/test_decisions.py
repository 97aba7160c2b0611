"""Decisions of the compiler in sentences."""

from __future__ import annotations

from app.finding import decisions
from tests.app.sessions import mlp_run, spilled_run
from tests.factories.worked import worked_run


def test_the_chain_goes_from_placement_to_source() -> None:
    run = mlp_run()
    chain = decisions.chain(run, run.program.kernel("fc0"))
    assert [d.level for d in chain] == ["placement", "fusion", "source"]
    assert "samples/Mcycle" in chain[0].sentence
    assert chain[1].sentence == "fc0 fuses 3 operations: dot, map, map"
    assert chain[2].sentence == "source nodes of fc0: fc0, relu0"


def test_a_slot_says_how_many_and_who_chose() -> None:
    run = worked_run(1, 2)
    held = next(b for b in run.program.buffers if (b.kernel, b.role) == ("k2", "in slot"))
    assert decisions.buffer(run, held).sentence == (
        "in slot 'h1' of k2: 200 B at byte 0, 2 slots of 100 B (slots asked for: 2)"
    )
    assert [t.id for t in decisions.transfers_of(run, held)] == ["h1"]


def test_a_route_names_ends_chunks_slots_and_color() -> None:
    route = decisions.route(worked_run(1, 2).program.transfers[1])
    assert route.sentence == (
        "'h2' goes from k2 to k3 in 1 chunk a sample (slots 1 out, 2 in): shift of 5 wavelets "
        "along rows 0..0, cols 1..1 to 2..2 on color 1"
    )


def test_memory_is_the_ledger_of_the_fullest_pe() -> None:
    run = worked_run(2, 2)
    text = decisions.memory_decision(run, run.program.kernel("k2")).sentence
    assert "allocated 400 of 49,152 B on k2's fullest PE (fits)" in text
    assert "in slot 'h1' 200 B, out slot 'h2' 200 B" in text


def test_a_route_through_the_weight_ports_names_no_host() -> None:
    transfers = spilled_run().program.transfers
    back = next(t for t in transfers if t.comes_back)
    gone = next(t for t in transfers if t.leaves and t.tensor == back.tensor)
    start = f"'{back.tensor}' goes from "
    assert decisions.route(back).sentence.startswith(f"{start}outside to {back.consumers[0]} in")
    assert decisions.route(gone).sentence.startswith(f"{start}{gone.producer} to outside in")
