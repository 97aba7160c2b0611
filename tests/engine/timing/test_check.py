"""Nets that are ill-formed and nets that lock up are refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from engine.timing.check import Deadlock
from engine.timing.clock import simulate
from engine.timing.net import TimingNet
from tests.factories.timing_nets import Edge, build_chain, build_net, build_skip


@pytest.mark.parametrize(("out", "slots"), [(2, 2), (2, 5), (1, 6)])
def test_a_skip_edge_that_cannot_hold_a_sample_locks_up(out: int, slots: int) -> None:
    with pytest.raises(Deadlock) as caught:
        simulate(build_skip(out, slots))
    kinds = {kind for kind, _, _ in caught.value.waits}
    assert kinds <= {"input", "output", "given", "slot"}
    assert caught.value.cycle > 0


def test_a_broadcast_skip_locks_up_one_slot_short() -> None:
    with pytest.raises(Deadlock, match="waits for kernel 2 to free an in slot"):
        simulate(build_skip(2, 7, broadcast=True))


def test_an_order_against_the_data_names_its_cycle() -> None:
    net = build_net([10, 10], [Edge(0, (1,))], regions=[[1, 0]])
    with pytest.raises(Deadlock, match="stops at cycle 0") as caught:
        simulate(net)
    assert sorted(caught.value.waits) == [("given", 0, 0), ("input", 1, 0), ("order", 0, 1)]


def test_each_wait_leads_to_the_next_and_the_last_to_the_first() -> None:
    with pytest.raises(Deadlock) as caught:
        simulate(build_skip(2, 2))
    waits = caught.value.waits
    assert [wait[2] for wait in waits] == [wait[1] for wait in (*waits[1:], waits[0])]


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("length", [10, 0, 10], r"length\[1\] is 0"),
        ("cap", [0, 5], r"cap\[0\] is 0"),
        ("words", [-1, 5], r"words\[0\] is -1"),
        ("out_slots", [2, 0], r"out_slots\[1\] is 0"),
        ("give_last", [11, 20], r"give_last\[0\] is 11, must lie in 0 .. 10"),
        ("use_kernel", [1, 3], r"use_kernel\[1\] is 3"),
        ("region_kernel", [0, 1, 1], "exactly once"),
        ("latency", [1], r"latency has shape \(1,\)"),
        ("use_start", [0, 1, 3], "use_start must rise from 0 to 2"),
    ],
)
def test_ill_formed_nets_are_refused(name: str, values: list[int], says: str) -> None:
    fields = build_chain(2, 2)._asdict() | {name: np.array(values)}
    net = TimingNet(**fields)
    with pytest.raises(ValueError, match=says):
        simulate(net)


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="samples is 0"):
        simulate(build_chain(2, 2, samples=0))
