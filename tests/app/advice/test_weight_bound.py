"""Weight ports: fires over 30 % of the critical path; the optimizer outside is tried."""

from __future__ import annotations

from dataclasses import replace

from app.advice.advisor import advise
from app.advice.facts import Facts
from app.advice.lab import CompileLab
from app.advice.rule import Change
from app.advice.weight_bound import RULE
from app.runs.run import Run, make_run
from engine.machine import generic_mesh
from lowering.cache import StageCache
from lowering.config import CompileConfig
from tests.app.sessions import mlp_run
from tests.factories.training import step_graph

SLOW = replace(generic_mesh(32, 32), weight_wavelets_per_cycle=1.0)


def training_run(optimizer: str = "wafer", spill_mb: float | None = None) -> Run:
    config = CompileConfig(
        machine=SLOW, mode="streaming", optimizer=optimizer, samples=2, spill_mb=spill_mb
    )
    return make_run(1, step_graph("mlp"), config, "mlp")


def test_fires_and_says_what_the_optimizer_outside_gave() -> None:
    run = training_run()
    found = RULE.check(Facts(run))
    assert found is not None
    assert found.proposals[0] == (Change("optimizer", "host"),)
    words = sum(stream.words for stream in run.program.streams)
    assert found.evidence[1][1].startswith(f"{words:,} wavelets in, ")
    advice = {each.rule.id: each for each in advise(run, CompileLab(run, StageCache()), 120.0)}
    tried = {each.changes: each for each in advice["weight-bound"].tried}
    assert tried[(Change("optimizer", "host"),)].gain > 0.3


def test_does_not_propose_what_is_chosen_and_is_silent_without_streams() -> None:
    found = RULE.check(Facts(training_run("host")))
    assert found is not None
    assert (Change("optimizer", "host"),) not in found.proposals
    assert RULE.check(Facts(mlp_run())) is None


def test_what_waits_outside_counts_and_running_it_again_is_proposed() -> None:
    run = training_run(spill_mb=0.0)
    found = RULE.check(Facts(run))
    assert found is not None
    back = sum(t.legs[0].words * t.chunks for t in run.program.transfers if t.comes_back)
    weights = sum(stream.words for stream in run.program.streams)
    assert found.evidence[1][1].startswith(f"{weights + back:,} wavelets in, ")
    assert found.evidence[1][1].endswith(f"of those in {back:,} of activations that waited outside")
    assert found.sentence.startswith("the weight ports hold ")
    assert "activation_mb" in {change.knob for each in found.proposals for change in each}
    assert (Change("spill_mb", "auto"),) in found.proposals
    plain = RULE.check(Facts(training_run()))
    assert plain is not None
    assert not {"activation_mb", "spill_mb"} & {
        change.knob for each in plain.proposals for change in each
    }
