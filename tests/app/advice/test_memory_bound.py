"""SRAM ports: fires when memory cycles exceed compute cycles, not the other way round."""

from __future__ import annotations

from app.advice.memory_bound import RULE
from app.advice.rule import Change
from tests.app.advice.factory import facts_of, totals_of, with_config
from tests.factories.worked import worked_run


def test_fires_when_memory_exceeds_compute() -> None:
    found = RULE.check(facts_of(worked_run(2, 2), totals=totals_of(compute=40, memory=60)))
    assert found is not None
    assert ("memory", "60.0 %") in found.evidence
    assert (Change("dtype", "fp16"),) in found.proposals


def test_proposes_no_dtype_that_is_set() -> None:
    run = with_config(worked_run(2, 2), storage="fp16")
    found = RULE.check(facts_of(run, totals=totals_of(compute=40, memory=60)))
    assert found is not None
    assert (Change("dtype", "fp16"),) not in found.proposals


def test_is_silent_when_compute_leads() -> None:
    assert RULE.check(facts_of(worked_run(2, 2), totals=totals_of(compute=60, memory=40))) is None
