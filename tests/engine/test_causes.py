"""Causes between instances and in stalls: the worked examples, and sums on random nets."""

from __future__ import annotations

import numpy as np
import pytest

from engine import causes
from engine.causes import CAUSES, DRAIN, FILL, WAIT_FABRIC, WAIT_INPUT, gap_causes
from engine.timing.check import Deadlock
from engine.timing.clock import simulate
from tests.factories.timing_nets import Edge, build_chain, build_net, build_random


def named_sums(out: int, slots: int) -> list[dict[str, int]]:
    """Cycles a cause of each region of the worked example."""
    net = build_chain(out, slots)
    sums = gap_causes(net, simulate(net)).sums(3)
    return [
        {name: int(cycles) for name, cycles in zip(CAUSES, row, strict=True) if cycles}
        for row in sums
    ]


def test_causes_of_the_example_with_two_slots() -> None:
    assert named_sums(2, 2) == [
        {"drain": 60},
        {"fill": 15, "drain": 15},
        {"fill": 40, "wait-input": 10, "wait-fabric": 10},
    ]


def test_causes_of_the_example_with_one_slot_and_a_tie() -> None:
    assert named_sums(1, 1) == [
        {"wait-output": 20, "drain": 50},
        {"fill": 15, "wait-output": 10, "drain": 15},
        {"fill": 40, "wait-input": 20, "wait-fabric": 10},
    ]


def test_a_fill_keeps_the_wait_below_it() -> None:
    net = build_chain(2, 2)
    gaps = gap_causes(net, simulate(net))
    third = gaps.region == 2
    assert gaps.cause[third].tolist()[:2] == [FILL, FILL]
    assert gaps.underlying[third].tolist()[:2] == [WAIT_INPUT, WAIT_FABRIC]
    assert gaps.t1[third].tolist()[:2] == [35, 40]
    assert gaps.transfer[third].tolist()[:2] == [1, 1]
    assert gaps.kernel[gaps.cause == DRAIN].tolist() == [-1, -1]


def test_waiting_for_the_host_is_one_span_until_arrival() -> None:
    edges = [Edge(-1, (0,), words=4)]
    net = build_net([10], edges, samples=2, admit_every=50)
    gaps = gap_causes(net, simulate(net))
    rows = list(zip(gaps.t0.tolist(), gaps.t1.tolist(), gaps.underlying.tolist(), strict=True))
    assert rows == [(0, 4, causes.WAIT_HOST), (14, 54, causes.WAIT_HOST)]


def test_a_loader_too_slow_by_half_shows_half_the_time_as_wait_host() -> None:
    net = build_net([100], [Edge(-1, (0,), words=4)], samples=50, loader=(1, 200, 2))
    sums = gap_causes(net, simulate(net)).sums(1)[0]
    # 50 samples of 100 cycles, one every 200: 49 waits of 100 between them, 204 cycles of fill
    assert sums[causes.WAIT_HOST] == 4_900
    assert sums[causes.FILL] == 204
    assert sums.sum() + 50 * 100 == simulate(net).makespan == 204 + 50 * 200 - 100


def test_streamed_weights_have_their_own_wait() -> None:
    net = build_net([10, 10], [Edge(0, (1,))], samples=2)
    gaps = gap_causes(net, simulate(net), frozenset({0}))
    assert set(gaps.underlying[gaps.region == 1].tolist()) == {causes.WAIT_WEIGHTS}


def test_a_stall_is_split_where_its_chunk_is_given() -> None:
    edges = [Edge(0, (1,), words=5, chunks=2, give=(50, 100), need=(0, 5))]
    net = build_net([100, 10], edges)
    run = simulate(net)
    gaps = gap_causes(net, run)
    inside = (gaps.region == 1) & (gaps.t0 >= 55)
    assert gaps.t0[inside].tolist() == [60, 100]
    assert gaps.t1[inside].tolist() == [100, 105]
    assert gaps.cause[inside].tolist() == [WAIT_INPUT, WAIT_FABRIC]
    assert run.stall_cause.tolist() == [WAIT_INPUT]


@pytest.mark.parametrize("seed", range(30))
def test_causes_and_work_fill_the_makespan_of_every_region(seed: int) -> None:
    net = build_random(seed)
    try:
        run = simulate(net)
    except Deadlock:
        return
    gaps = gap_causes(net, run)
    region_of = np.zeros(len(net.length), np.int64)
    regions = len(net.region_start) - 1
    for region in range(regions):
        region_of[net.region_kernel[net.region_start[region] : net.region_start[region + 1]]] = (
            region
        )
    busy = np.bincount(region_of, weights=net.length * net.samples, minlength=regions)
    assert (gaps.sums(regions).sum(axis=1) + busy == run.makespan).all()
    same = gaps.region[1:] == gaps.region[:-1]
    assert (gaps.t0[1:][same] >= gaps.t1[:-1][same]).all()


def test_causes_keep_their_order() -> None:
    assert CAUSES[causes.WAIT_OUTPUT] == "wait-output"
    assert CAUSES[WAIT_INPUT] == "wait-input"
    assert CAUSES[DRAIN] == "drain"
