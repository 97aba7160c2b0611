"""Step tables against the timeline's own answers, boundary by boundary."""

from __future__ import annotations

import numpy as np
import pytest

from engine.run import Execution, execute
from engine.steps import RUNNING, held_chunks
from tests.factories.graphs import compiled_model
from tests.factories.programs import UP, three_kernels


def runs() -> list[Execution]:
    models = [compiled_model("bert", "wse2"), compiled_model("demo-cnn", "mesh-64x64")]
    return [three_kernels().run(), *(execute(m.program, m.store) for m in models)]


def test_cycles_run_are_those_of_the_timeline() -> None:
    for run in runs():
        for kernel in range(len(run.program.kernels)):
            length = run.net.length[kernel]
            for boundary in range(0, len(run.timeline.times), 9):
                sample, done = run.timeline.progress(kernel, int(run.timeline.times[boundary]))
                want = max(0, sample) * length + done
                assert run.fields.tables.run[kernel, boundary] == want


def test_words_moved_are_those_of_the_timeline() -> None:
    for run in runs():
        for boundary in range(0, len(run.timeline.times), 5):
            at = int(run.timeline.times[boundary])
            moved = run.fields.tables.moved[:, boundary]
            np.testing.assert_array_equal(moved, run.timeline.moved_at(at))


def test_every_step_of_a_region_runs_or_has_a_cause() -> None:
    for run in runs():
        tables = run.fields.tables
        for kernel in range(len(run.program.kernels)):
            advanced = np.diff(tables.run[kernel])
            cycles = np.diff(run.timeline.times)
            running = tables.idle[kernel] == RUNNING
            np.testing.assert_array_equal(advanced, np.where(running, cycles, 0))


def test_alive_spans_stalls() -> None:
    for run in runs():
        for step in range(0, run.timeline.steps, 11):
            at = int(run.timeline.times[step])
            alive = run.timeline.samples_at(at) >= 0
            np.testing.assert_array_equal(run.fields.tables.alive[:, step], alive)


def test_progress_inside_an_instance_starts_anew_each_sample() -> None:
    run = three_kernels().run()
    before, after = run.fields.tables.instance(0, UP)
    step = run.timeline.step_at(161)
    assert (before[step], after[step]) == (0, 8)
    assert after[step - 1] == UP


@pytest.mark.parametrize(("at", "held"), [(0, 0), (1, 1), (4, 2), (5, 1), (9, 0)])
def test_held_chunks_begin_and_are_freed(at: int, held: int) -> None:
    begun, freed = np.array([1, 4]), np.array([9, 5])
    assert held_chunks(begun, freed, np.array([at])).tolist() == [held]
