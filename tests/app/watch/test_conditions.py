"""Conditions on the worked example (slots 1/1): where they hold and turn true, on paper.

k1 [0,10) [15,25) [40,50); k2 [15,35) [40,60) [65,85); k3 [40,50) [65,75) [90,100).
"""

from __future__ import annotations

import numpy as np
import pytest

from app.commands import CommandError
from app.runs.opening import open_run
from app.runs.run import Run
from app.watch.conditions import Condition, holds, turns_true
from tests.app.sessions import mesh_config, mlp_run
from tests.factories.worked import with_values, worked_run


def _cycles(run: Run, text: str) -> list[list[int]]:
    """Return the first cycles of the steps at which a condition turns true, row by row."""
    begin = run.timeline.times[:-1]
    found = turns_true(run, Condition.parse(text))
    rows = range(len(run.program.kernels) if found.by_kernel else 1)
    return [begin[found.step[found.row == row]].tolist() for row in rows]


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("starts", [[0, 15, 40], [15, 40, 65], [40, 65, 90]]),
        ("kernel == k2 and ends", [[], [35, 60, 85], []]),
        ("kernel == k2 and running", [[], [15, 40, 65], []]),
        ("cause == wait-output", [[10, 25], [35, 60], []]),
        ("utilization > 50%", [[0, 15, 40], [15, 40, 65], [40, 65, 90]]),
        ("utilization(0, 0, 1, 3) > 60%", [[15, 40, 65]]),
        ("waiting > 5", [[], [], [50, 75]]),
        ("waiting > 15", [[], [], []]),
        ("entered == 1", [[15]]),
        ("cycle == 37", [[35]]),
        ("cycle >= 37", [[35]]),
        ("sample == 2 and kernel == k3", [[], [], [90]]),
        ("sram >= 200", [[], [15], []]),
        ("sram(0, 1) >= 200", [[15]]),
        ("allocated > 150", [[], [0], []]),
        ("not (kernel == k1 or kernel == k2) and starts", [[], [], [40, 65, 90]]),
    ],
)
def test_turns_true_where_paper_says(text: str, cycles: list[list[int]]) -> None:
    assert _cycles(worked_run(1, 1), text) == cycles


def test_starts_one_after_the_other_are_two() -> None:
    run = worked_run(2, 2)  # k1 runs [0,10) [10,20) [20,30) without a break
    assert _cycles(run, "kernel == k1 and starts")[0] == [0, 10, 20]
    assert _cycles(run, "kernel == k1 and running")[0] == [0]


def test_a_number_and_its_opposite_split_all_steps() -> None:
    run = mlp_run()
    for text in ("sram > 4380", "link > 50%", "waiting > 3"):
        yes, no = (holds(run, Condition.parse(t)) for t in (text, f"not ({text})"))
        assert (yes ^ no).all()


def test_values_hold_from_the_end_of_a_kernel_on() -> None:
    run = with_values(
        worked_run(1, 1), h1=np.array([1.0, -7.0, 3.0]), h2=np.array([np.nan, 2.0, np.inf])
    )
    assert _cycles(run, "value > 2.5") == [[10], [], []]
    assert _cycles(run, "value < -5") == [[10], [], []]
    assert _cycles(run, "value(h2) > 2.5") == [[], [], []]
    assert _cycles(run, "nan") == [[], [35], []]
    assert _cycles(run, "inf(h2)") == [[], [35], []]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nan", "'nan' needs values; the command 'values' computes them"),
        ("kernel == k9", "there is no kernel 'k9'; did you mean 'k"),
        ("family == dots", "there is no family 'dots'"),
        ("cause == wait-inputs", "there is no cause 'wait-inputs'; did you mean 'wait-input'"),
        ("sram(9, 9) > 1", r"PE \(9, 9\) lies outside the mesh of 2x4 PEs"),
        ("link(0, 0, up) > 0.5", "there is no link 'up'"),
        ("utilization(0, 0, 0, 1) > 0.5", "a region of 0x1 PEs is empty"),
        ("utilization(0, 0, 5, 1) > 0.5", "lies outside"),
    ],
)
def test_what_the_run_does_not_have_is_named(text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        holds(worked_run(1, 1), Condition.parse(text))


def test_a_tensor_that_no_kernel_writes_is_named() -> None:
    run = with_values(worked_run(1, 1), h1=np.ones(3))
    with pytest.raises(CommandError, match="no kernel writes 'h9'; did you mean 'h"):
        holds(run, Condition.parse("value(h9) > 1"))


def test_static_conditions_know_it() -> None:
    assert Condition.parse("allocated > 1KB and kernel == a").is_static
    assert not Condition.parse("allocated > 1KB and starts").is_static


@pytest.mark.parametrize(
    "text", ["starts", "running and waiting == 0", "utilization > 10%", "link > 0.5", "step > 3",
             "sram > 100", "kernel == fc1 and ends", "sample == 1"],
)  # fmt: skip
def test_blocks_of_kernels_say_what_all_of_them_at_once_say(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_run(810, "transformer", mesh_config(96, 2), {}).run
    text = text.replace("fc1", run.program.kernels[3].id)
    assert len(run.program.kernels) > 8
    whole, dense = turns_true(run, Condition.parse(text)), holds(run, Condition.parse(text))
    monkeypatch.setattr("app.watch.conditions.BLOCK_CELLS", 1)
    parts = turns_true(run, Condition.parse(text))
    assert parts.by_kernel == whole.by_kernel
    for one, other in ((parts.step, whole.step), (parts.row, whole.row)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(holds(run, Condition.parse(text)), dense)
    assert whole.step.size
    for step in whole.steps[:5].tolist():
        assert parts.kernels(step) == whole.kernels(step)
