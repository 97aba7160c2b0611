"""Slots: the worked example with 1/1 fires and gets the pair; with 2/2 nothing waits for slots."""

from __future__ import annotations

from app.advice.advisor import advise
from app.advice.rule import Change, slots_pair
from app.advice.slots import RULE
from tests.app.advice.factory import ChainLab, facts_of
from tests.factories.worked import worked_run


def test_fires_where_a_kernel_waits_for_both_ends_at_once() -> None:
    found = RULE.check(facts_of(worked_run(1, 1)))
    assert found is not None
    assert "k1 waits 20 cycles (20.0 %) for slots" in found.sentence
    assert "2 wait(s) end with an in slot and an out slot at once" in found.sentence
    assert found.proposals[:3] == (
        (Change("in_slots", "2"),), (Change("out_slots", "2"),), slots_pair(2),
    )  # fmt: skip


def test_is_silent_with_two_slots() -> None:
    assert RULE.check(facts_of(worked_run(2, 2))) is None


def test_the_pair_is_proposed_with_the_gain_that_timing_gives() -> None:
    advice = {a.rule.id: a for a in advise(worked_run(1, 1), ChainLab(1, 1), 60.0)}["slots"]
    single = {item.changes: item.gain for item in advice.tried}
    assert single[(Change("out_slots", "2"),)] == 0
    assert single[(Change("in_slots", "2"),)] == 0
    assert advice.best is not None
    assert advice.best.changes == slots_pair(2)
    assert advice.best.sentence == (
        "tried slots = 2 (out and in together): 100 -> 90 cycles (10.0% less)"
    )
