"""Large chunks: fires where chunks were limited and kernels wait; not where they are not."""

from __future__ import annotations

from app.advice.coarse_chunks import RULE
from app.advice.rule import Change
from tests.app.advice.factory import facts_of, with_config
from tests.factories.worked import worked_run


def test_fires_with_one_chunk_a_sample() -> None:
    found = RULE.check(facts_of(with_config(worked_run(2, 2), max_chunks=1)))
    assert found is not None
    assert found.proposals[0] == (Change("max_chunks", "8"),)
    assert ("edges at the limit", "2") in found.evidence


def test_is_silent_when_chunks_are_not_limited() -> None:
    assert RULE.check(facts_of(worked_run(2, 2))) is None
