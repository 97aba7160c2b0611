"""SRAM nearly full: fires from 90 % of a PE on, not below and not on what overflows."""

from __future__ import annotations

import pytest

from app.advice.rule import Change
from app.advice.sram_full import RULE
from tests.app.advice.factory import facts_of
from tests.factories.worked import worked_run


def test_fires_on_a_full_pe() -> None:
    found = RULE.check(facts_of(worked_run(2, 2), allocated={"k1": 9, "k2": 48_000, "k3": 9}))
    assert found is not None
    assert found.kernels == ("k2",)
    assert found.goal == "sram"
    assert "(97.7 %)" in found.sentence
    assert found.proposals[0] == (Change("dtype", "fp16"),)


@pytest.mark.parametrize("given", [44_000, 49_153])
def test_is_silent_on_room_and_on_overflow(given: int) -> None:
    assert RULE.check(facts_of(worked_run(2, 2), allocated={"k1": given})) is None
