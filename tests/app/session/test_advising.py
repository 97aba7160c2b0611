"""Advice in a session: untried first, tried in the background, refused beside other work."""

from __future__ import annotations

import pytest

from app.commands import CommandError
from app.debugger import Debugger


def test_advice_says_whether_it_was_tried(debugger: Debugger) -> None:
    before = debugger.view_advice()
    assert not before.is_tried
    assert all(row.best is None and not row.tried for row in before.rows)
    assert "nothing was tried yet" in before.sentence
    assert debugger.advise(30.0) is not None
    debugger.wait(60)
    after = debugger.view_advice()
    assert after.is_tried
    best = [row.best for row in after.rows if row.best is not None]
    assert best
    assert all(item.sentence.startswith("tried ") and item.gain > 0 for item in best)


def test_a_search_shows_the_best_first(debugger: Debugger) -> None:
    debugger.optimize(30.0)
    debugger.wait(60)
    found = debugger.view_advice().optimum
    assert found is not None
    assert found.best is not None
    assert found.rows[0].gain == max(row.gain for row in found.rows)
    assert found.makespan == debugger.run.timeline.makespan
    assert debugger.message == found.sentence


def test_the_gain_is_what_setting_the_knob_gives(debugger: Debugger) -> None:
    debugger.advise(30.0)
    debugger.wait(60)
    rows = {row.rule: row for row in debugger.view_advice().rows}
    best = rows["overhead"].best
    assert best is not None
    knob, value, kernel = best.changes[0]
    before = debugger.run.timeline.makespan
    debugger.set_knob(knob, value, kernel or None)
    debugger.wait(60)
    assert 1 - debugger.run.timeline.makespan / before == pytest.approx(best.gain)
    assert not debugger.view_advice().is_tried  # another run: nothing is known of it


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e9])
def test_a_senseless_budget_is_refused(debugger: Debugger, seconds: float) -> None:
    with pytest.raises(CommandError, match="must be over 0 and at most 600"):
        debugger.advise(seconds)


def test_one_job_at_a_time(debugger: Debugger) -> None:
    debugger.set_knob("samples", 2)
    state = debugger.job
    assert state is not None
    if state.is_running and debugger.advise(5.0) is None:
        assert "is at work; 'advice' can follow it" in debugger.message
    debugger.wait(60)


def test_idle_regions_tell_what_trying_their_knobs_gave(debugger: Debugger) -> None:
    assert all(region.gains == () for region in debugger.find_idle().regions)
    debugger.advise(30.0)
    debugger.wait(60)
    fill = next(r for r in debugger.find_idle().regions if r.cause in ("fill", "drain"))
    assert fill.gains[0].startswith("tried samples = 8:")
    assert "cycles a sample" in fill.gains[0]
