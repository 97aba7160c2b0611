"""Tiles differ: fires when a fifth of an instance is waiting for slower PEs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from app.advice.tile_imbalance import RULE
from app.runs.run import Run
from engine.profile import Profile
from tests.app.advice.factory import facts_of
from tests.factories.worked import worked_run


def _with_busy(busy: int) -> Run:
    """k2 lasts 20 cycles, its PE works `busy` of them."""
    run = worked_run(2, 2)
    profile = Profile(20, np.zeros((1, 1), np.int32), np.array([[busy, 0, 0, 0]]))
    profiles = {**run.execution.profiles, "k2": profile}
    return replace(run, execution=replace(run.execution, profiles=profiles))


def test_fires_when_a_quarter_is_waiting() -> None:
    found = RULE.check(facts_of(_with_busy(15)))
    assert found is not None
    assert "in k2 25.0 % of the PE-cycles" in found.sentence
    assert found.place == (0, 1, 1, 1)


def test_is_silent_when_tiles_are_even() -> None:
    assert RULE.check(facts_of(_with_busy(19))) is None
