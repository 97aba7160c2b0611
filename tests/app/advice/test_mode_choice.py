"""Mode chosen by hand: fires where the other one may be better; what it gives was tried."""

from __future__ import annotations

from dataclasses import replace

from app.advice.advisor import Advice, advise
from app.advice.facts import Facts
from app.advice.lab import CompileLab
from app.advice.mode_choice import RULE
from app.advice.rule import Change
from app.runs.run import Run, make_run
from engine.machine import MachineSpec, generic_mesh
from lowering.cache import StageCache
from lowering.config import CompileConfig
from tests.factories.graphs import model_graph
from tests.factories.training import step_graph


def run_of(name: str, mode: str, machine: MachineSpec, samples: int = 4) -> Run:
    config = CompileConfig(machine=machine, mode=mode, samples=samples)
    return make_run(1, model_graph(name), config, name)


def advice_of(run: Run) -> Advice:
    found = {each.rule.id: each for each in advise(run, CompileLab(run, StageCache()), 60.0)}
    return found["mode-choice"]


def test_a_streamed_model_that_is_quicker_as_a_pipeline_is_told_so() -> None:
    run = run_of("demo-transformer", "streaming", generic_mesh(64, 64))
    advice = advice_of(run)
    assert advice.best is not None
    assert advice.best.changes == (Change("mode", "pipeline"),)
    other = run_of("demo-transformer", "pipeline", generic_mesh(64, 64))
    gain = 1 - other.timeline.makespan / run.timeline.makespan
    assert abs(advice.best.gain - gain) < 1e-9
    assert gain > 0.3
    sentence = advice.finding.sentence
    assert f"takes {run.timeline.makespan / 4:,.0f} cycles a sample" in sentence


def test_a_trial_that_gains_nothing_is_no_advice() -> None:
    fast = replace(generic_mesh(64, 64), weight_wavelets_per_cycle=1e4, weight_latency_cycles=0)
    advice = advice_of(run_of("mlp", "pipeline", fast, samples=8))
    assert advice.tried[0].changes == (Change("mode", "streaming"),)
    assert advice.tried[0].gain < 0
    assert advice.best is None


def test_a_pipeline_that_does_not_fit_is_tried_in_turns() -> None:
    config = CompileConfig(machine=generic_mesh(12, 12), mode="pipeline", samples=1)
    run = make_run(1, step_graph("gpt2_2l"), config, "step")
    assert not run.program.would_run
    found = RULE.check(Facts(run))
    assert found is not None
    assert found.goal == "fit"
    assert found.proposals == ((Change("mode", "streaming"),),)
    lab = CompileLab(run, StageCache())
    assert not lab.measure(()).fits
    assert lab.measure(found.proposals[0]).fits


def test_is_silent_where_auto_chose_where_weights_do_not_fit_and_where_none_can_be_better() -> None:
    assert RULE.check(Facts(run_of("demo-transformer", "auto", generic_mesh(64, 64)))) is None
    # 433,664 parameters of 4 bytes on 25 PEs of 45 KB
    assert RULE.check(Facts(run_of("demo-transformer", "streaming", generic_mesh(5, 5)))) is None
    slow = replace(generic_mesh(64, 64), weight_wavelets_per_cycle=0.1)
    assert RULE.check(Facts(run_of("demo-transformer", "pipeline", slow))) is None
