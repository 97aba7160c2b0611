"""Mesh partly unused: fires when over a quarter of the PEs have no kernel."""

from __future__ import annotations

from app.advice.idle_mesh import RULE
from app.advice.rule import Change
from tests.app.advice.factory import facts_of, with_config
from tests.factories.worked import worked_run


def test_fires_when_five_of_eight_pes_are_free() -> None:
    found = RULE.check(facts_of(with_config(worked_run(2, 2), pe_caps=(("k1", 1),))))
    assert found is not None
    assert found.sentence == "62.5 % of the PEs (5) belong to no kernel"
    assert found.proposals == ((Change("pe_cap", "auto", "k1"),),)


def test_is_silent_when_most_pes_are_used() -> None:
    assert RULE.check(facts_of(worked_run(2, 2), used_share=0.75)) is None
