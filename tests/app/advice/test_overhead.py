"""Overhead: fires on the mlp demo, whose tiles are tiny; not on kernels that only compute."""

from __future__ import annotations

from app.advice.overhead import RULE
from app.advice.rule import Change
from tests.app.advice.factory import facts_of
from tests.app.sessions import mlp_run
from tests.factories.worked import worked_run


def test_fires_on_tiny_tiles() -> None:
    run = mlp_run()
    found = RULE.check(facts_of(run))
    assert found is not None
    name = found.kernels[0]
    assert name == run.execution.bottleneck.kernel
    half = str(run.region(name).area // 2)
    assert found.proposals[0] == (Change("pe_cap", half, name),)


def test_is_silent_where_kernels_compute() -> None:
    assert RULE.check(facts_of(worked_run(2, 2))) is None
