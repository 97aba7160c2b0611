"""Transfers: words, bytes and moments of a hand-sized chain; words of every model's edges."""

from __future__ import annotations

import pytest

from engine.geometry import Rect
from engine.machine import parse_machine
from engine.program import HOST, Tiling, Transfer
from lowering.stages.edges import Edge
from lowering.stages.routing import Arrival, End
from lowering.stages.transfers import make_transfers, with_slots
from tests.factories.graphs import compiled_model

ENDS = {
    "a": End(Rect(0, 0, 4, 3), Tiling(4, 1, 3)),
    "b": End(Rect(4, 4, 6, 2), Tiling(3, 2, 2)),
}


def made(edge: Edge, dtype: str = "fp32", elements: int = 120) -> Transfer:
    (transfer,) = make_transfers(
        [edge], ENDS, {"a": 100, "b": 90}, {"t": (elements,)}, parse_machine("mesh-16x16"), dtype
    )
    return transfer


def test_chunk_of_words_bytes_and_moments() -> None:
    found = made(Edge("t", "a", "b", Arrival("rows", True), 3, whole=False))
    assert found.id == "t: a to b"
    assert [leg.words for leg in found.legs] == [40, 40]
    assert found.out_bytes == 4 * 4  # 40 elements over 12 PEs
    assert found.in_bytes == (7 * 4,)  # 40 over 6 rows, copied along
    assert found.give == (34, 100)
    assert found.need == ((0, 60),)
    assert (found.out_slots, found.in_slots) == (2, (2,))


def test_half_precision_halves_words_and_bytes() -> None:
    found = made(Edge("t", "a", "b", Arrival("rows", True), 3, whole=False), "fp16")
    assert [leg.words for leg in found.legs] == [20, 20]
    assert (found.out_bytes, found.in_bytes) == (8, (14,))


@pytest.mark.parametrize(
    ("arrival", "elements"),
    [
        (Arrival("rows", True, batch=3), 7),  # 120 over 6 rows and 3 heads
        (Arrival("rows", True, halo=0.5), 30),
        (Arrival("held", False, copies=3), 30),  # 120 on 2 x 2 cells, once a group
        (Arrival("copied", True), 20),
        (Arrival("grid", True), 10),
    ],
)
def test_bytes_of_a_slot_by_the_way_to_arrive(arrival: Arrival, elements: int) -> None:
    assert made(Edge("t", "a", "b", arrival, 1, whole=True)).in_bytes == (4 * elements,)


def test_whole_tensor_is_needed_at_the_start_and_given_at_the_end() -> None:
    found = made(Edge("t", "a", "b", Arrival("held", False), 1, whole=True))
    assert (found.give, found.need, found.whole) == ((100, 100), ((0, 0),), True)


def test_windows_need_their_last_chunk_a_halo_earlier() -> None:
    found = made(Edge("t", "a", "b", Arrival("rows", True), 4, whole=False, halo=0.125))
    assert found.need == ((0, int(90 * (0.75 - 0.125))),)


def test_host_has_no_bytes_and_no_moments() -> None:
    entering = made(Edge("t", HOST, "b", Arrival("rows", True), 1, whole=False))
    assert (entering.id, entering.out_bytes, entering.give) == ("t: host to b", 0, (0, 0))
    leaving = made(Edge("t", "a", HOST, Arrival("grid", True), 1, whole=False))
    assert (leaving.id, leaving.in_bytes, leaving.need) == ("t: a to host", (0,), ((0, 0),))


def test_slots_are_set_for_each_transfer() -> None:
    edge = Edge("t", "a", "b", Arrival("rows", True), 3, whole=False)
    first, second = with_slots([made(edge), made(edge)], [5, 7], 3)
    assert (first.in_slots, second.in_slots, second.out_slots) == ((5,), (7,), 3)


@pytest.mark.parametrize("name", ["mlp", "bert", "convnext", "demo-transformer"])
def test_chunks_of_a_tensor_carry_all_its_words(name: str) -> None:
    program = compiled_model(name, "wse2").program
    for transfer in program.transfers:
        words = program.tensor(transfer.tensor).elements
        first = transfer.legs[0].words * transfer.chunks
        assert first >= words
        extra = first / words
        kernel = next((k for k in program.kernels if k.id in transfer.consumers), None)
        assert extra == 1 or kernel is not None
        # at most every group of rows reads the whole tensor: halos, or a held operand
        assert extra <= (kernel.tiling.m_parts if kernel else 1)
