"""The timing net of the hand-written program, array by array."""

from __future__ import annotations

from dataclasses import replace

from engine.program import Conflict, ConflictTerm
from engine.timing.net import COEF_UNIT, RATE_UNIT, build_net, highest_rate
from tests.factories.programs import ACT, DOWN, UP, three_kernels

LENGTHS = {"up": UP, "act": ACT, "down": DOWN}


def test_arrays_follow_the_program() -> None:
    net = build_net(three_kernels().program, LENGTHS)
    assert net.length.tolist() == [131, 19, 68]
    assert net.region_start.tolist() == [0, 1, 2, 3]
    assert net.region_kernel.tolist() == [0, 1, 2]
    assert net.producer.tolist() == [-1, 0, 1, 2]
    assert net.use_kernel.tolist() == [0, 1, 2, -1]
    assert net.words.tolist() == [24, 8, 8, 4]
    assert net.latency.tolist() == [2 + 4, 3 + 4, 4 + 4, 2 + 4]
    assert net.give_last.tolist() == [0, 131, 19, 68]
    assert net.conflict_start.tolist() == [0]
    assert net.cap.tolist() == [RATE_UNIT] * 4


def test_conflicts_are_rounded_up_and_own_traffic_is_reserved() -> None:
    terms = (ConflictTerm("x", 7), ConflictTerm("h", 8), ConflictTerm("down", 4))
    program = replace(three_kernels().program, conflicts=(Conflict("east", 0, 1, terms),))
    net = build_net(program, LENGTHS)
    assert net.conflict_transfer.tolist() == [0, 1]
    assert net.conflict_coef.tolist() == [-(-7 * COEF_UNIT // 24), COEF_UNIT]
    assert net.reserve_kernel.tolist() == [2]
    assert net.reserve_rate.tolist() == [-(-4 * RATE_UNIT * COEF_UNIT // DOWN)]
    assert net.conflict_start.tolist() == [0, 2]


def test_host_port_caps_the_rate_by_all_words_that_pass_it() -> None:
    program = three_kernels().program
    slow = replace(program, machine=replace(program.machine, host_wavelets_per_cycle=0.5))
    x, h, _, y = slow.transfers
    assert highest_rate(x, 24, slow) == RATE_UNIT // 2
    assert highest_rate(h, 8, slow) == RATE_UNIT
    # y passes the border on two rows: 8 words at half a wavelet a cycle, 4 on each link
    assert highest_rate(y, 4, slow) == RATE_UNIT // 4


def test_a_kernel_of_no_cycles_lasts_one() -> None:
    net = build_net(three_kernels().program, {"up": 0, "act": ACT, "down": DOWN})
    assert net.length.tolist() == [1, 19, 68]
