"""Pipeline stages differ: 10, 20, 10 cycles fire (1.5 times the mean), 10, 12, 10 do not."""

from __future__ import annotations

from app.advice.rule import Change
from app.advice.stage_imbalance import RULE
from tests.app.advice.factory import facts_of, with_config
from tests.factories.worked import worked_run


def test_fires_on_a_stage_of_twice_the_others() -> None:
    found = RULE.check(facts_of(with_config(worked_run(2, 2), pe_caps=(("k2", 1),))))
    assert found is not None
    assert "k2 takes 20 cycles a sample, 1.50 times the mean" in found.sentence
    assert found.proposals == ((Change("pe_cap", "auto", "k2"),),)


def test_is_silent_on_even_stages() -> None:
    even = {("k1",): 10, ("k2",): 12, ("k3",): 10}
    assert RULE.check(facts_of(worked_run(2, 2), region_lengths=even)) is None
