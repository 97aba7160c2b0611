"""Loads: maps against slicing, and vectors that keep every link within its capacity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.load import (
    FlowPattern,
    Kept,
    add_patterns,
    arrays_of,
    meet_all,
    named,
    shared_loads,
)
from engine.load_state import Patterns
from engine.program import Conflict, ConflictTerm
from engine.transfers import Pattern
from tests.engine.plain_load import plain_loads

SIDE = 9
NAMES = [f"flow {flow}" for flow in range(64)]


def conflict(plane: str, row: int, col: int, *terms: tuple[int, int]) -> Conflict:
    return Conflict(plane, row, col, tuple(ConflictTerm(NAMES[f], words) for f, words in terms))


def words_of(*words: int) -> np.ndarray:
    return np.array(words, np.int64)


def random_pattern(rng: np.random.Generator, plane: str) -> Pattern:
    start, line = (int(n) for n in rng.integers(0, SIDE - 1, 2))
    length, lines = (int(rng.integers(1, SIDE - n + 1)) for n in (start, line))
    axis = {"east": "x", "west": "x", "north": "y", "south": "y"}.get(plane, rng.choice(["x", "y"]))
    return Pattern(plane, str(axis), line, lines, start, rng.integers(0, 9, length))


def painted(pattern: Pattern) -> np.ndarray:
    """Return the words of a pattern as a (SIDE, SIDE) map, PE by PE."""
    plane = np.zeros((SIDE, SIDE), np.int64)
    for line in range(pattern.lines_start, pattern.lines_start + pattern.lines):
        for place, words in enumerate(pattern.words.tolist(), pattern.start):
            plane[(line, place) if pattern.axis == "x" else (place, line)] += words
    return plane


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_add_patterns_is_the_sum_of_slices(dtype: type[np.signedinteger]) -> None:
    rng = np.random.default_rng(1)
    for axis, plane in (("x", "east"), ("y", "south")):
        patterns = [random_pattern(rng, plane) for _ in range(20)]
        ours = np.full((SIDE, SIDE), 5, dtype)
        add_patterns(ours if axis == "x" else ours.T, [(p, p.words) for p in patterns])
        np.testing.assert_array_equal(ours, 5 + sum(painted(p) for p in patterns))


def test_adding_nothing_changes_nothing() -> None:
    plane = np.ones((2, 3), np.int32)
    add_patterns(plane, [])
    assert plane.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_two_flows_that_fill_a_link_share_one_vector() -> None:
    flows = [
        FlowPattern(0, Pattern("east", "x", 0, 1, 0, words_of(10, 10)), 0.1),
        FlowPattern(1, Pattern("east", "x", 0, 2, 1, words_of(4, 4)), 0.25),
    ]
    assert shared_loads(flows, NAMES) == [conflict("east", 0, 1, (0, 10), (1, 4))]


def test_flows_apart_or_too_weak_share_nothing() -> None:
    apart = [
        FlowPattern(0, Pattern("east", "x", 0, 1, 0, words_of(10)), 0.1),
        FlowPattern(1, Pattern("east", "x", 1, 1, 0, words_of(10)), 0.1),
        FlowPattern(2, Pattern("west", "x", 0, 1, 0, words_of(10)), 0.1),
    ]
    weak = [
        FlowPattern(flow, Pattern("east", "x", 0, 1, 0, words_of(10)), 0.04) for flow in range(2)
    ]
    assert shared_loads(apart, NAMES) == []
    assert shared_loads(weak, NAMES) == []


def test_ramps_along_rows_and_columns_meet() -> None:
    flows = [
        FlowPattern(0, Pattern("deliver", "x", 2, 1, 0, words_of(3, 3, 3)), 1 / 3),
        FlowPattern(1, Pattern("deliver", "y", 1, 1, 0, words_of(2, 2, 2, 2)), 1 / 2),
    ]
    (vector,) = shared_loads(flows, NAMES)
    assert vector == conflict("deliver", 2, 1, (0, 3), (1, 2))


def random_flows(rng: np.random.Generator) -> list[FlowPattern]:
    """Return flows of one or two patterns on different planes, the busiest word at full rate."""
    flows = []
    for flow in range(int(rng.integers(2, 7))):
        planes = rng.choice(["east", "south", "inject", "deliver"], 2, replace=False)
        patterns = [random_pattern(rng, str(plane)) for plane in planes]
        busiest = max(1, max(int(p.words.max()) for p in patterns))
        flows += [FlowPattern(flow, pattern, 1 / busiest) for pattern in patterns]
    return flows


def load_of(vector: Conflict, rates: np.ndarray, weights: dict[int, float]) -> float:
    words = {NAMES.index(term.flow): term.words for term in vector.terms}
    return sum(float(rates[flow]) * words[flow] * weights[flow] for flow in words)


@pytest.mark.parametrize("seed", range(60))
def test_rates_that_respect_the_vectors_respect_every_link(seed: int) -> None:
    rng = np.random.default_rng(seed)
    flows = random_flows(rng)
    weights = {f.flow: f.weight for f in flows}
    vectors = shared_loads(flows, NAMES)
    for _ in range(20):
        rates = rng.random(max(weights) + 1)
        worst = max((load_of(v, rates, weights) for v in vectors), default=0.0)
        rates = np.minimum(1, rates / worst) if worst else np.ones_like(rates)
        worst = max((load_of(v, rates, weights) for v in vectors), default=0.0)
        rates /= max(1.0, worst)
        for plane in ("east", "south", "inject", "deliver"):
            mine = [f for f in flows if f.pattern.plane == plane]
            load = sum(painted(f.pattern) * f.weight * rates[f.flow] for f in mine)
            assert np.max(load) <= 1 + 1e-9


@pytest.mark.parametrize("seed", range(60))
def test_no_vector_covers_another(seed: int) -> None:
    vectors = shared_loads(random_flows(np.random.default_rng(seed)), NAMES)
    for one in vectors:
        for other in vectors:
            if one is not other:
                terms = {t.flow: t.words for t in other.terms}
                assert any(terms.get(t.flow, 0) < t.words for t in one.terms)


@pytest.mark.parametrize("seed", range(40))
def test_compiled_and_interpreted_kernels_find_what_plain_sets_find(seed: int) -> None:
    flows = random_flows(np.random.default_rng(seed))
    plain = plain_loads(flows, NAMES)
    turn = [np.arange(1 + flows[-1].flow)]
    for compiled in (False, True):
        met = meet_all(arrays_of(flows, len(NAMES)), turn, compiled)
        assert named(turn, met, NAMES) == plain


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_turns_give_what_each_gives_alone_once(seed: int, compiled: bool) -> None:
    rng = np.random.default_rng(seed)
    flows = [
        FlowPattern(flow, random_pattern(rng, str(rng.choice(["east", "inject"]))), 0.2)
        for flow in range(24)
    ]
    turns = [np.sort(rng.choice(24, 12, replace=False)) for _ in range(6)]
    met = meet_all(arrays_of(flows, len(NAMES)), turns, compiled)
    assert named(turns, met, NAMES) == plain_turns(flows, [turn.tolist() for turn in turns])


def plain_turns(flows: list[FlowPattern], turns: Sequence[Sequence[int]]) -> list[Conflict]:
    """Return what each turn alone has, once."""
    found: dict[tuple[ConflictTerm, ...], Conflict] = {}
    for turn in turns:
        for vector in plain_loads([f for f in flows if f.flow in turn], NAMES):
            found.setdefault(vector.terms, vector)
    return list(found.values())


@pytest.mark.parametrize("seed", range(30))
def test_turns_of_flows_alike_meet_as_if_each_were_looked_at(seed: int) -> None:
    """Flows of four kinds; turns are windows over a repeated row of them, and long-lived flows."""
    rng = np.random.default_rng(seed)
    kinds = [
        [random_pattern(rng, str(plane)) for plane in rng.choice(["east", "inject", "south"], 2)]
        for _ in range(4)
    ]
    row = rng.integers(0, 4, int(rng.integers(3, 7))).tolist() * 8
    like = [row.index(kind) for kind in row]
    flows = [FlowPattern(f, p, 0.15) for f, kind in enumerate(row) for p in kinds[kind]]
    stays = rng.choice(len(row), 2, replace=False).tolist()
    starts = rng.integers(0, len(row) - 5, 24).tolist()
    turns = [sorted({*range(start, start + 5), *stays}) for start in starts]
    firsts = [flow for flow in flows if flow.flow == like[flow.flow]]
    expected = plain_turns(flows, turns)
    assert shared_loads(firsts, NAMES[: len(row)], turns, like) == expected
    assert shared_loads(flows, NAMES[: len(row)], turns) == expected


def test_turns_alike_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[list[int]] = []

    def watched(patterns: Patterns, turns: list[np.ndarray], compiled: bool) -> list[Kept]:
        looked_at.extend(turn.tolist() for turn in turns)
        return meet_all(patterns, turns, compiled)

    monkeypatch.setattr("engine.load.meet_all", watched)
    flow = FlowPattern(0, random_pattern(np.random.default_rng(1), "east"), 0.9)
    found = shared_loads([flow], NAMES[:6], [[0, 1], [2, 3], [4, 5], [1, 2, 3]], [0] * 6)
    assert sorted(map(len, looked_at)) == [2, 3]
    pairs = [[NAMES.index(term.flow) for term in vector.terms] for vector in found]
    assert pairs == [[0, 1], [2, 3], [4, 5], [1, 2, 3]]


def test_room_grows_with_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    flows = [FlowPattern(flow, random_pattern(rng, "east"), 0.5) for flow in range(60)]
    wide = shared_loads(flows, NAMES)
    monkeypatch.setattr("engine.load_state._ROOM", 2)
    assert shared_loads(flows, NAMES) == wide == plain_loads(flows, NAMES)


def test_a_flow_of_no_words_may_have_a_turn() -> None:
    flow = FlowPattern(0, random_pattern(np.random.default_rng(1), "east"), 0.9)
    other = FlowPattern(1, flow.pattern, 0.9)
    found = shared_loads([flow, other], NAMES[:3], [[0, 1, 2], [2]])
    assert found == shared_loads([flow, other], NAMES[:2])
    assert found
