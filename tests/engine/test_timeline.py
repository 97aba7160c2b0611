"""Questions to the timeline of the worked example."""

from __future__ import annotations

import pytest

from engine.event_kinds import ARRIVES, END, KINDS, LEFT, START
from engine.timeline import Timeline
from engine.timing.clock import simulate
from engine.timing.net import RATE_UNIT
from tests.factories.timing_nets import build_chain

KERNELS, TRANSFERS = ("ffn1", "ffn2", "add"), ("h1", "h2")


@pytest.fixture(name="run")
def run_of_the_example() -> Timeline:
    return simulate(build_chain(1, 1), compiled=False)


def test_steps_lie_between_distinct_event_times(run: Timeline) -> None:
    assert run.times.tolist() == [0, 10, 15, 25, 35, 40, 50, 60, 65, 75, 85, 90, 100]
    assert (run.step_at(0), run.step_at(14), run.step_at(15), run.step_at(100)) == (0, 1, 2, 11)


def test_amounts_are_floors_of_what_has_moved(run: Timeline) -> None:
    assert [run.moved(0, t) for t in (9, 10, 12, 15, 30, 100)] == [0, 0, 2, 5, 8 - 3, 15]
    assert run.amounts(1).tolist() == [5, 0]
    assert run.rates(1).tolist() == [RATE_UNIT, 0]


def test_progress_counts_cycles_of_the_instance(run: Timeline) -> None:
    assert run.progress(1, 10) == (-1, 0)
    assert run.progress(1, 20) == (0, 5)
    assert run.progress(1, 37) == (0, 20)
    assert run.running(run.step_at(20)).tolist() == [True, True, False]


def test_labels_name_the_most_important_event(run: Timeline) -> None:
    assert run.label(0, KERNELS, TRANSFERS) == "ffn1 starts, sample 0"
    assert run.label(1, KERNELS, TRANSFERS) == "ffn1 ends, sample 0 (+2 more)"
    assert run.label(2, KERNELS, TRANSFERS).startswith("ffn1 starts, sample 1 (+")


def test_a_tied_start_names_both_that_it_waited_for(run: Timeline) -> None:
    starts = (run.event_kind == START) & (run.event_subject == 1) & (run.event_sample == 1)
    event = int(starts.nonzero()[0][0])
    first, end = run.because_start[event], run.because_start[event + 1]
    causes = [
        (KINDS[run.event_kind[e]], int(run.event_subject[e]), int(run.event_time[e]))
        for e in run.because[first:end]
    ]
    assert sorted(causes) == [("arrives", 0, 40), ("left", 1, 40)]


def test_events_are_sorted_by_time(run: Timeline) -> None:
    assert (run.event_time[1:] >= run.event_time[:-1]).all()
    counts = [int((run.event_kind == kind).sum()) for kind in (START, END, LEFT, ARRIVES)]
    assert counts == [9, 9, 6, 6]
