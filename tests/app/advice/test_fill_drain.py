"""Fill and drain: 130 of 270 cycles with three samples fire, a tenth of them would not."""

from __future__ import annotations

from app.advice.fill_drain import RULE
from app.advice.rule import Change
from tests.app.advice.factory import facts_of, totals_of
from tests.factories.worked import worked_run


def test_fires_on_a_short_run() -> None:
    facts = facts_of(worked_run(2, 2))
    assert facts.totals["fill"] == 15 + 40
    assert facts.totals["drain"] == 60 + 15
    found = RULE.check(facts)
    assert found is not None
    assert found.sentence.startswith("48.1 % of the cycles")  # 130 of 3 x 90
    assert (Change("samples", "6"),) in found.proposals


def test_is_silent_on_a_long_run() -> None:
    assert RULE.check(facts_of(worked_run(2, 2), totals=totals_of(compute=900, fill=100))) is None
