"""The nearest name."""

from __future__ import annotations

from app.nearest import hint


def test_near_names_are_offered_far_ones_not() -> None:
    assert hint("fc2", ["fc1", "scores"]) == "; did you mean 'fc1'?"
    assert hint("zzz", ["fc1"]) == ""
