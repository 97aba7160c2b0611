"""The advisor: no gain without a trial, budgets kept, the best with the fewest changes."""

from __future__ import annotations

from collections.abc import Callable

from app.advice.advisor import Tried, advise, best_of, best_text, candidates, optimize
from app.advice.lab import Trial
from app.advice.rule import Change, slots_pair
from tests.app.advice.factory import ChainLab
from tests.app.sessions import mlp_run
from tests.factories.worked import worked_run


def _clock(step: float) -> Callable[[], float]:
    """Return a clock that goes on by `step` each time it is read."""
    now = [0.0]

    def read() -> float:
        now[0] += step
        return now[0]

    return read


def test_nothing_is_tried_without_a_lab() -> None:
    for item in advise(worked_run(1, 1), None, 60.0):
        assert item.tried == ()
        assert item.best is None
        assert item.untried == item.finding.proposals


def test_time_that_is_up_leaves_proposals_untried() -> None:
    lab = ChainLab(1, 1)
    advice = advise(worked_run(1, 1), lab, 0.5, clock=_clock(1.0))
    assert lab.asked == []
    assert any(item.untried for item in advice)


def test_best_has_the_largest_gain_then_the_fewest_changes() -> None:
    trial = Trial(90, 3, 0, True)
    one = Tried((Change("a", "1"),), trial, 0.1, "")
    two = Tried((Change("a", "1"), Change("b", "1")), trial, 0.1, "")
    more = Tried((Change("c", "1"),), trial, 0.2, "")
    assert best_of([two, one]) is one
    assert best_of([one, more]) is more
    assert best_of([Tried((), trial, 0.0, "")]) is None


def test_search_finds_the_pair_of_slots() -> None:
    run, lab = worked_run(1, 1), ChainLab(1, 1)
    asked = [c for c in candidates(run) if c[0].knob.endswith("slots")]
    assert slots_pair(2) in asked
    assert slots_pair(1) not in asked  # as it is
    assert lab.measure(slots_pair(2)).makespan == 90


def test_search_tries_singles_then_pairs_within_its_time() -> None:
    run = mlp_run()

    class Known:
        """Gains 10 cycles a change."""

        def measure(self, changes: tuple[Change, ...], progress: object = None) -> Trial:
            return Trial(1000 - 10 * len(changes), 4, 100, True)

    found = optimize(run, Known(), 60.0)
    singles = len(list(candidates(run)))
    assert len(found.tried) > singles
    assert found.best is not None
    assert len(found.best.changes) >= 3  # slots (two ends) and another knob
    assert found.left == 0
    assert "changes tried" in best_text(found)
    none = optimize(run, Known(), 0.5, clock=_clock(1.0))
    assert none.tried == ()
    assert none.left == singles
    assert best_text(none).startswith("0 changes tried, none gains")
