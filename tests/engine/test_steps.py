"""Step tables against the timeline's own answers, boundary by boundary."""

from __future__ import annotations

import numpy as np

from engine.run import Execution, execute
from engine.steps import RUNNING
from tests.factories.graphs import compiled_model
from tests.factories.programs import UP, three_kernels


def runs() -> list[Execution]:
    models = [compiled_model("bert", "wse2"), compiled_model("demo-cnn", "mesh-64x64")]
    return [three_kernels().run(), *(execute(m.program, m.store) for m in models)]


def test_cycles_run_are_those_of_the_timeline() -> None:
    for run in runs():
        for kernel in range(len(run.program.kernels)):
            length, row = run.net.length[kernel], run.fields.tables.run.row(kernel)
            for boundary in range(0, len(run.timeline.times), 9):
                sample, done = run.timeline.progress(kernel, int(run.timeline.times[boundary]))
                want = max(0, sample) * length + done
                assert row[boundary] == want


def test_words_moved_are_those_of_the_timeline() -> None:
    for run in runs():
        tallies = run.fields.tables.moved
        moved = np.stack([tallies.row(transfer) for transfer in range(tallies.rows)])
        for boundary in range(0, len(run.timeline.times), 5):
            at = int(run.timeline.times[boundary])
            np.testing.assert_array_equal(moved[:, boundary], run.timeline.moved_at(at))


def test_every_step_of_a_region_runs_or_has_a_cause() -> None:
    for run in runs():
        tables = run.fields.tables
        for kernel in range(len(run.program.kernels)):
            advanced = np.diff(tables.run.row(kernel))
            cycles = np.diff(run.timeline.times)
            running = tables.idle[kernel] == RUNNING
            np.testing.assert_array_equal(advanced, np.where(running, cycles, 0))


def test_alive_spans_stalls() -> None:
    for run in runs():
        for step in range(0, run.timeline.steps, 11):
            at = int(run.timeline.times[step])
            alive = run.timeline.samples_at(at) >= 0
            assert [held.at(step) for held in run.fields.tables.alive] == alive.tolist()


def test_progress_inside_an_instance_starts_anew_each_sample() -> None:
    run = three_kernels().run()
    before, after = run.fields.tables.instance(0, UP)
    step = run.timeline.step_at(161)
    assert (before[step], after[step]) == (0, 8)
    assert after[step - 1] == UP


def test_steps_in_which_a_kernel_runs_are_those_of_its_progress() -> None:
    for run in runs():
        for kernel, length in enumerate(run.net.length[: len(run.program.kernels)].tolist()):
            steps, before, after = run.fields.tables.running(kernel, length)
            all_before, all_after = run.fields.tables.instance(kernel, length)
            assert steps.tolist() == np.flatnonzero(all_after > all_before).tolist()
            np.testing.assert_array_equal(before, all_before[steps])
            np.testing.assert_array_equal(after, all_after[steps])
