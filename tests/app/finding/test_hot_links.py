"""Hot links: over the run against the maps, in a step by rate, and who sends."""

from __future__ import annotations

import pytest

from app.finding.hot_links import hot_links, hottest_now
from engine.metrics import LINK_PLANES
from tests.app.sessions import mlp_run, spilled_run
from tests.factories.worked import worked_run


def test_the_hottest_link_of_the_run_is_that_of_the_maps() -> None:
    run = mlp_run()
    hot = hot_links(run, None, LINK_PLANES)[0]
    words = run.execution.fields.hottest(None, 1)[0][3]
    assert hot.words == words
    assert sum(sender.share for sender in hot.senders) == pytest.approx(1)


def test_senders_of_the_worked_example() -> None:
    run = worked_run(1, 1)
    found = {h.senders[0].flow: h for h in hot_links(run, None, LINK_PLANES)}
    assert set(found) == {"h1", "h2"}
    assert (found["h1"].row, found["h1"].col, found["h1"].plane) == (0, 0, "east")
    assert found["h1"].words == 15
    assert found["h1"].load == 0.15  # 3 x 5 wavelets in 100 cycles
    assert found["h1"].senders[0].ends == "k1 to k2"


def test_a_step_shows_rates_and_each_set_of_senders_once() -> None:
    run = worked_run(1, 1)
    step = int(run.timeline.step_at(36))
    found = hot_links(run, step, LINK_PLANES)
    assert [h.load for h in found] == [1.0, 1.0]
    still = int(run.timeline.step_at(41))
    assert hot_links(run, still) == ()
    assert hottest_now(run, still, LINK_PLANES) is None
    mine = hottest_now(run, step, LINK_PLANES, "k3")
    assert mine is not None
    assert mine.senders[0].flow == "h2"


def test_what_waited_outside_is_not_said_to_come_from_the_host() -> None:
    run = spilled_run()
    index, back = next((i, t) for i, t in enumerate(run.program.transfers) if t.comes_back)
    began = run.timeline.started[run.timeline.chunk_start[index]]
    found = hot_links(run, int(run.timeline.step_at(int(began))), LINK_PLANES)
    ends = {sender.flow: sender.ends for hot in found for sender in hot.senders}
    assert ends[back.id] == f"outside to {back.consumers[0]}"
