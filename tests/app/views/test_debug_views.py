"""Views of breakpoints, hot links, bottleneck and advice: what they hold besides their sentence."""

from __future__ import annotations

import pytest

from app.views.build_advice import view_advice
from app.views.build_bottleneck import view_bottleneck
from app.views.build_breaks import view_breaks
from app.views.build_hot import view_hot
from app.watch.breaks import Breakpoint, check
from tests.app.sessions import mlp_run
from tests.factories.worked import worked_run


def test_breaks_tell_the_next_and_the_last_step() -> None:
    run = worked_run(1, 1)
    item = Breakpoint(1, "break", check(run, "kernel == k2 and starts"))
    at = int(run.timeline.step_at(52))
    row = view_breaks(run, [item], at, None).rows[0]
    assert row.stops == 3
    assert [run.step_bounds(s)[0] for s in (row.last_step or 0, row.next_step or 0)] == [40, 65]


def test_breaks_list_the_names_of_conditions() -> None:
    names = dict(view_breaks(worked_run(1, 1), [], 0, None).names)
    assert "fullest PE" in names["sram"]
    assert len(names) > 15


def test_hot_links_of_a_step_and_of_the_run() -> None:
    run = worked_run(1, 1)
    step = view_hot(run, int(run.timeline.step_at(36)))
    assert (step.scope, step.cycles) == ("step", 5)
    assert step.rows[0].severity == "warn"
    assert view_hot(run, None).cycles == 100
    still = view_hot(run, int(run.timeline.step_at(41)))
    assert still.rows == ()
    assert "nothing moves" in still.sentence


@pytest.mark.parametrize("slots", [1, 2])
def test_bottleneck_rows_sum_to_the_makespan(slots: int) -> None:
    for run in (worked_run(slots, slots), mlp_run()):
        view = view_bottleneck(run)
        assert sum(row.cycles for row in view.rows) == run.timeline.makespan
        assert {row.kind for row in view.rows} == {
            "compute", "overhead", "memory", "fabric", "input", "imbalance",
        }  # fmt: skip
        assert 0 < view.bound_share <= 1


def test_no_finding_is_said() -> None:
    view = view_advice(worked_run(2, 2), (), is_tried=True, optimum=None)
    assert "rules has anything to say" in view.sentence
