"""Legs: each kind on a short line by hand, and all kinds against words walked one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from engine.machine import parse_machine
from engine.program import Leg
from engine.transfers import (
    LEG_KINDS,
    busiest_words,
    leg_latency,
    leg_patterns,
    transfer_latency,
    transfer_patterns,
)
from tests.engine.transfers.walk import (
    Loads,
    broadcast_loads,
    exchange_loads,
    longest_way,
    reduce_loads,
)

PLANES = {"east": "ahead", "south": "ahead", "west": "back", "north": "back"}


def line(leg: Leg) -> dict[str, dict[int, int]]:
    """Words by plane and position on the first line of a leg; zeros left out."""
    found: dict[str, dict[int, int]] = {}
    for pattern in leg_patterns(leg):
        if pattern.lines_start == leg.lines_start:
            places = enumerate(pattern.words.tolist(), pattern.start)
            found[pattern.plane] = {place: words for place, words in places if words}
    return found


def one_row(kind: str, src: tuple[int, int], dst: tuple[int, int], words: int, **more: int) -> Leg:
    return Leg(kind, "x", 0, 1, *src, *dst, words, **more)


def test_shift_keeps_each_word_in_its_place() -> None:
    leg = one_row("shift", (0, 2), (2, 2), 6, groups=0)
    assert line(leg) == {
        "east": {0: 3, 1: 6, 2: 3}, "inject": {0: 3, 1: 3}, "deliver": {2: 3, 3: 3},
    }  # fmt: skip


def test_shift_west_goes_west() -> None:
    leg = one_row("shift", (2, 2), (0, 2), 5, groups=0)
    assert line(leg)["west"] == {3: 2, 2: 5, 1: 3}
    assert "east" not in line(leg)


def test_spread_thins_out() -> None:
    leg = one_row("spread", (0, 1), (1, 3), 7, groups=0)
    assert line(leg)["east"] == {0: 7, 1: 4, 2: 2}
    assert line(leg)["deliver"] == {1: 3, 2: 2, 3: 2}


def test_collect_piles_up() -> None:
    leg = one_row("collect", (0, 4), (3, 1), 8)
    assert line(leg) == {
        "east": {0: 2, 1: 4, 2: 6}, "inject": {0: 2, 1: 2, 2: 2, 3: 2}, "deliver": {3: 8},
    }  # fmt: skip


def test_exchange_inside_one_group_mixes_all() -> None:
    leg = one_row("exchange", (0, 2), (0, 2), 8)
    assert line(leg)["east"] == {0: 2}
    assert line(leg)["west"] == {1: 2}


def test_exchange_groups_do_not_mix() -> None:
    leg = one_row("exchange", (0, 4), (0, 4), 8, groups=2)
    assert line(leg)["east"] == {0: 1, 2: 1}
    assert line(leg)["west"] == {1: 1, 3: 1}


def test_broadcast_copies_on_the_way() -> None:
    leg = one_row("broadcast", (0, 1), (1, 3), 5)
    assert line(leg) == {
        "east": {0: 5, 1: 5, 2: 5}, "inject": {0: 5}, "deliver": {1: 5, 2: 5, 3: 5},
    }  # fmt: skip


def test_broadcast_from_inside_goes_both_ways() -> None:
    leg = one_row("broadcast", (1, 2), (0, 4), 4)
    assert line(leg)["east"] == {1: 2, 2: 4}
    assert line(leg)["west"] == {1: 4, 2: 2}


def test_filtered_broadcast_delivers_a_share() -> None:
    leg = one_row("host broadcast", (0, 1), (1, 2), 10, share=4)
    assert line(leg)["east"] == {0: 10, 1: 10}
    assert line(leg)["deliver"] == {1: 3, 2: 3}


def test_reduction_meets_at_the_keepers() -> None:
    leg = one_row("reduce", (0, 3), (0, 3), 6)
    assert line(leg) == {
        "east": {0: 4, 1: 2}, "west": {2: 4, 1: 2}, "inject": {0: 4, 1: 4, 2: 4},
        "deliver": {0: 2, 1: 8, 2: 2},
    }  # fmt: skip


def test_host_leg_runs_to_the_border() -> None:
    leg = one_row("host", (1, 2), (4, 1), 4, groups=0)
    assert line(leg)["east"] == {1: 2, 2: 4, 3: 4}


def test_lines_share_the_words_the_first_ones_one_more() -> None:
    leg = Leg("shift", "y", 2, 3, 0, 1, 2, 1, 8, groups=0)
    south = [p for p in leg_patterns(leg) if p.plane == "south"]
    assert [(p.lines_start, p.lines, p.words.tolist()) for p in south] == [
        (2, 2, [3, 3]), (4, 1, [2, 2]),
    ]  # fmt: skip
    assert south[0].rect == (0, 2, 2, 4)
    assert sum(p.total() for p in south) == 16


def random_leg(kind: str, rng: np.random.Generator) -> Leg:
    src, dst = (int(n) for n in rng.integers(1, 6, 2))
    src_start, dst_start = (int(n) for n in rng.integers(0, 8, 2))
    groups = int(rng.integers(0, 4))
    if kind == "reduce":
        dst, dst_start = src, src_start
    if kind == "reduce" or "broadcast" in kind:
        groups = int(rng.integers(1, min(src, dst) + 1))
    share = int(rng.integers(1, 4)) if "broadcast" in kind else 1
    words = int(rng.integers(0, 25))
    return Leg(kind, "x", 0, 1, src_start, src, dst_start, dst, words, groups, share)


def walked(leg: Leg) -> Loads:
    if leg.kind == "reduce":
        return reduce_loads(leg, leg.words)
    return (broadcast_loads if "broadcast" in leg.kind else exchange_loads)(leg, leg.words)


@pytest.mark.parametrize("kind", LEG_KINDS)
def test_loads_are_those_of_words_walked_one_by_one(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for _ in range(150):
        leg = random_leg(kind, rng)
        ours = {
            (PLANES.get(plane, plane), place): Fraction(words)
            for plane, places in line(leg).items()
            for place, words in places.items()
        }
        theirs = walked(leg)
        mixes = leg.groups > 0 and kind != "reduce" and "broadcast" not in kind
        slack = leg.groups if mixes else 0
        for key in ours.keys() | theirs.keys():
            exact = theirs.get(key, Fraction(0))
            allowed = 0 if key[0] in ("inject", "deliver") else slack
            assert exact <= ours.get(key, Fraction(0)) <= exact + allowed, (leg, key)


def test_latency_counts_hops_of_the_longest_way() -> None:
    machine = parse_machine("wse3")
    leg = one_row("shift", (0, 2), (5, 2), 6, groups=0)
    assert leg_latency(leg, machine) == 5 * 2
    assert leg_latency(one_row("broadcast", (0, 2), (5, 2), 6), machine) == 6 * 2
    assert leg_latency(one_row("broadcast", (3, 1), (0, 8), 6), machine) == 4 * 2
    assert leg_latency(one_row("reduce", (0, 6), (0, 6), 6, groups=2), machine) == 2 * 2
    assert leg_latency(one_row("shift", (0, 2), (5, 2), 0, groups=0), machine) == 0


def test_transfer_latency_adds_ramps_and_turns() -> None:
    machine = parse_machine("wse3")
    down = Leg("shift", "y", 0, 1, 0, 1, 3, 1, 6, groups=0)
    along = one_row("broadcast", (0, 1), (4, 2), 6)
    assert transfer_latency((down, along), machine) == 3 * 2 + 5 * 2 + 20 + 2 * 2
    assert transfer_latency((), machine) == 0


@pytest.mark.parametrize("kind", ["exchange", "shift", "collect"])
def test_latency_is_no_shorter_than_the_longest_way(kind: str) -> None:
    machine = parse_machine("wse2")
    rng = np.random.default_rng(11)
    for _ in range(300):
        leg = random_leg(kind, rng)
        if leg.words >= max(leg.src, leg.dst, 1):
            assert leg_latency(leg, machine) >= longest_way(leg, leg.words), leg


def test_chain_of_legs_uses_ramps_only_at_its_ends() -> None:
    down = Leg("shift", "y", 0, 2, 0, 1, 3, 1, 8, groups=0)
    along = Leg("broadcast", "x", 3, 1, 0, 2, 2, 3, 8)
    patterns = transfer_patterns((down, along))
    rects = {plane: [p.rect for p in patterns if p.plane == plane] for plane in
             ("inject", "deliver")}  # fmt: skip
    assert rects == {"inject": [(0, 0, 1, 2)], "deliver": [(3, 2, 4, 5)]}
    assert busiest_words(patterns) == 8
    assert busiest_words([]) == 0


def test_patterns_share_read_only_words() -> None:
    pattern = leg_patterns(one_row("shift", (0, 2), (2, 2), 6, groups=0))[0]
    with pytest.raises(ValueError, match="read-only"):
        pattern.words[0] = 1
