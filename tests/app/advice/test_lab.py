"""The lab: what it measures is what setting the knob gives; what cannot be is said."""

from __future__ import annotations

import pytest

from app.advice.lab import CompileLab, Trial, changed_config, gain, trial_text
from app.advice.rule import Change, slots_pair
from app.runs.run import make_run
from lowering.cache import StageCache
from lowering.config import KnobError
from tests.app.sessions import mlp_run


def test_a_trial_equals_a_compile_with_the_knob_set() -> None:
    run, cache = mlp_run(), StageCache()
    lab = CompileLab(run, cache)
    assert lab.measure(()).makespan == run.timeline.makespan
    changes = (Change("pe_cap", "80", "scores"),)
    config = changed_config(run.config, changes)
    fresh = make_run(77, run.compiled.graph, config, "mlp")
    assert lab.measure(changes).makespan == fresh.timeline.makespan
    assert lab.measure(slots_pair(1)).sram_bytes < lab.measure(slots_pair(4)).sram_bytes


def test_what_a_knob_cannot_take_is_said() -> None:
    trial = CompileLab(mlp_run(), StageCache()).measure((Change("max_chunks", "99"),))
    assert trial.makespan is None
    assert "must be 1..8" in trial.note
    with pytest.raises(KnobError):
        changed_config(mlp_run().config, (Change("nothing", "1"),))


def test_gain_is_of_the_goal() -> None:
    before, after = Trial(100, 4, 400, True), Trial(180, 8, 300, True)
    assert gain(before, after, "cycles") == pytest.approx(0.1)
    assert gain(before, after, "sram") == 0.25
    assert gain(before, Trial(10, 4, 1, False), "cycles") == -1
    assert gain(Trial(100, 4, 900, False), after, "fit") == 1


@pytest.mark.parametrize(
    ("after", "goal", "text"),
    [
        (Trial(90, 4, 400, True), "cycles", "tried a = 1: 100 -> 90 cycles (10.0% less)"),
        (Trial(100, 4, 400, True), "cycles", "tried a = 1: 100 -> 100 cycles (no gain)"),
        (Trial(150, 4, 400, True), "cycles", "tried a = 1: 100 -> 150 cycles (50.0% more)"),
        (Trial(180, 8, 400, True), "cycles",
         "tried a = 1: 25.0 -> 22.5 cycles a sample (10.0% less), 8 samples"),
        (Trial(90, 4, 500, False), "cycles",
         "tried a = 1: it would not fit (500 B on the fullest PE)"),
        (Trial(None, 1, 0, False, "no room"), "cycles", "tried a = 1: no room"),
        (Trial(90, 4, 300, True), "fit", "tried a = 1: it fits"),
    ],
)  # fmt: skip
def test_sentence_says_that_it_was_tried(after: Trial, goal: str, text: str) -> None:
    assert trial_text((Change("a", "1"),), Trial(100, 4, 400, True), after, goal) == text
