"""Series over steps, against the maps of single steps and the worked example."""

from __future__ import annotations

import numpy as np
import pytest

from app.runs import series
from engine.geometry import Rect
from tests.app.sessions import mlp_run, mlp_streaming
from tests.factories.worked import with_values, worked_run


@pytest.mark.parametrize("area", [Rect(0, 0, 8, 8), Rect(3, 5, 40, 12), Rect(60, 60, 4, 4)])
def test_utilization_of_a_region_is_the_mean_of_the_maps(area: Rect) -> None:
    run = mlp_run()
    found = series.region_utilization(run, area)
    for step in range(0, run.timeline.steps, 5):
        painted = run.execution.fields.field("utilization", step)[area.slices()]
        assert found[step] == pytest.approx(float(painted.mean()), abs=1e-6)


def test_samples_of_the_worked_example() -> None:
    run = worked_run(1, 1)
    at = [int(run.timeline.step_at(cycle)) for cycle in (0, 12, 17, 41, 91)]
    assert series.samples_in_work(run)[:, at].tolist() == [
        [0, -1, 1, 2, -1], [-1, -1, 0, 1, -1], [-1, -1, -1, 0, 2],
    ]  # fmt: skip
    assert series.samples_done(run)[:, at].tolist() == [
        [-1, 0, 0, 1, 2], [-1, -1, -1, 0, 2], [-1, -1, -1, -1, 1],
    ]  # fmt: skip
    assert series.samples_entered(run)[0, at].tolist() == [0, 0, 1, 2, 2]


def test_waits_add_up_until_they_end() -> None:
    run = worked_run(1, 1)
    k3 = series.waited(run)[2]
    assert k3[[int(run.timeline.step_at(c)) for c in (41, 51, 61, 66)]].tolist() == [0, 10, 15, 0]


def test_where_kernels_take_turns_only_the_next_one_waits() -> None:
    run = mlp_streaming().run
    waits = series.waited(run)
    assert ((waits > 0).sum(axis=0) <= 1).all()
    starts = run.timeline.start[: len(waits)]
    for kernel, row in enumerate(waits):
        for step in np.flatnonzero(np.diff(row, append=0) < 0):
            assert run.step_bounds(int(step))[1] in starts[kernel]


def test_ranges_of_values_leave_nan_out() -> None:
    run = with_values(worked_run(1, 1), h1=np.array([1.0, np.nan, -2.0]))
    held = series.value_range(run, "h1", 0)
    assert held == series.ValueRange(-2.0, 1.0, True, False)
    assert series.value_range(run, "h1", 1) is None
    assert series.value_range(run, "h2", 0) is None
    assert not series.has_values(worked_run(1, 1))


def test_a_streaming_run_has_a_row_a_kernel_and_none_for_its_weights() -> None:
    run = mlp_streaming().run
    count, timeline = len(run.program.kernels), run.timeline
    assert len(timeline.start) > count
    starts = series.moments(run, timeline.start)
    assert starts.shape == (count, timeline.steps)
    assert starts.sum(axis=1).tolist() == [timeline.samples] * count
    assert series.samples_done(run)[:, -1].shape == (count,)
    begins = [int(cycle) for cycle in timeline.start[:count].min(axis=0)]
    entered = series.samples_entered(run)[0]
    for sample, cycle in enumerate(begins):
        assert entered[timeline.step_at(cycle)] == sample
        assert entered[timeline.step_at(cycle) - 1] == sample - 1
