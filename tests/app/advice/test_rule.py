"""Changes in words."""

from __future__ import annotations

from app.advice.rule import Change, changes_text, slots_pair
from app.advice.table import RULES, findings
from tests.factories.worked import worked_run


def test_both_ends_are_the_knob_slots() -> None:
    assert changes_text(slots_pair(2)) == "slots = 2 (out and in together)"
    pair = (Change("out_slots", "2"), Change("in_slots", "3"))
    assert changes_text(pair) == "out_slots = 2 and in_slots = 3"
    assert changes_text((Change("pe_cap", "8", "k1"),)) == "pe_cap = 8 for k1"


def test_there_are_at_least_ten_rules_each_in_its_file() -> None:
    assert len(RULES) >= 10
    assert all(RULES[name].id == name for name in RULES)


def test_findings_come_heaviest_first() -> None:
    weights = [finding.weight for _, finding in findings(worked_run(1, 1))]
    assert weights == sorted(weights, reverse=True)
    assert len(weights) >= 3
