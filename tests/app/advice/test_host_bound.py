"""Host ports: fires over 15 % of the critical path."""

from __future__ import annotations

from app.advice.host_bound import RULE
from tests.app.advice.factory import facts_of
from tests.factories.worked import worked_run


def test_fires_when_the_host_holds_the_path() -> None:
    found = RULE.check(facts_of(worked_run(2, 2), critical=({"k2": 60}, 0, 30)))
    assert found is not None
    assert found.sentence == "the host ports hold 33.3 % of the critical path"


def test_is_silent_without_a_host() -> None:
    assert RULE.check(facts_of(worked_run(2, 2))) is None
