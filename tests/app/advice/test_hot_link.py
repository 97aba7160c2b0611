"""One link far above the others: fires over 3 times the median, not on even or light traffic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.advice.facts import Facts
from app.advice.hot_link import RULE
from tests.app.advice.factory import facts_of
from tests.factories.worked import worked_run


def test_fires_far_above_the_median() -> None:
    run = worked_run(2, 2)
    hot = Facts(run).hot
    assert hot is not None
    found = RULE.check(facts_of(run, hot=replace(hot, load=0.8), median_load=0.1))
    assert found is not None
    assert "8.0 times the median" in found.sentence
    assert found.place == (hot.row, hot.col, 1, 1)


@pytest.mark.parametrize(("load", "median"), [(0.8, 0.4), (0.05, 0.001)])
def test_is_silent_on_even_and_on_light_traffic(load: float, median: float) -> None:
    run = worked_run(2, 2)
    hot = Facts(run).hot
    assert hot is not None
    assert RULE.check(facts_of(run, hot=replace(hot, load=load), median_load=median)) is None
