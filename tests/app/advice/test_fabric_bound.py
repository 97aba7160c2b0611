"""Fabric: fires over 30 % of the critical path; the worked example has 10 of 90 cycles."""

from __future__ import annotations

from app.advice.fabric_bound import RULE
from app.advice.rule import Change
from tests.app.advice.factory import facts_of
from tests.factories.worked import worked_run


def test_fires_when_transfers_hold_the_path() -> None:
    found = RULE.check(facts_of(worked_run(2, 2), critical=({"k2": 45}, 45, 0)))
    assert found is not None
    assert found.sentence == "transfers between kernels hold 50.0 % of the critical path"
    assert (Change("dtype", "fp16"),) in found.proposals


def test_is_silent_on_the_worked_example() -> None:
    facts = facts_of(worked_run(2, 2))
    assert facts.critical == ({"k1": 10, "k2": 60, "k3": 10}, 10, 0)
    assert RULE.check(facts) is None
