"""Activations that fill the SRAM: fires on a tight streamed step, what runs again was tried."""

from __future__ import annotations

from dataclasses import replace

from app.advice.activation_bound import RULE
from app.advice.advisor import advise
from app.advice.facts import Facts
from app.advice.lab import CompileLab
from app.advice.rule import Change
from app.runs.run import Run, make_run
from engine.machine import generic_mesh
from lowering.cache import StageCache
from lowering.config import CompileConfig
from tests.app.sessions import mlp_run
from tests.lowering.test_training import longer_step


def tight_run(data_kb: int, prefetch: int = 1, spill_mb: float | None = None) -> Run:
    """Return a training step on 8 x 8 PEs of so much SRAM for data."""
    mesh = generic_mesh(8, 8)
    mesh = replace(mesh, sram_bytes=mesh.reserved_sram_bytes + data_kb * 1024)
    config = CompileConfig(machine=mesh, mode="streaming", samples=1, prefetch=prefetch)
    config = replace(config, spill_mb=spill_mb)
    return make_run(1, longer_step(), config, "step")


def test_fires_and_says_what_running_again_gave() -> None:
    run = tight_run(16)
    assert run.program.would_run
    found = RULE.check(Facts(run))
    assert found is not None
    assert found.goal == "sram"
    held, weights = run.compiled.report.activation_bytes, run.compiled.report.parameter_bytes
    assert f"activations are {held / (held + weights):.1%}".replace("%", " %") in found.sentence
    assert found.proposals[0][0].knob == "activation_mb"
    advice = {each.rule.id: each for each in advise(run, CompileLab(run, StageCache()), 120.0)}
    tried = {each.changes[0].knob: each for each in advice["activation-bound"].tried}
    assert tried["activation_mb"].trial.fits
    assert tried["activation_mb"].gain > 0.1
    assert tried["activation_mb"].trial.sram_bytes < run.machine.sram_bytes * 0.85
    assert tried["dtype"].gain > 0
    assert tried["spill_mb"].trial.fits
    assert tried["spill_mb"].gain > 0


def test_without_prefetch_none_less_is_proposed() -> None:
    found = RULE.check(Facts(tight_run(16, prefetch=0)))
    assert found is not None
    assert not [c for changes in found.proposals for c in changes if c.knob == "prefetch"]
    assert (Change("dtype", "fp16"),) in found.proposals


def test_a_larger_spill_than_is_chosen_is_not_proposed() -> None:
    found = RULE.check(Facts(tight_run(6, spill_mb=0.0)))
    assert found is not None
    assert "spill_mb" not in {change.knob for each in found.proposals for change in each}


def test_budgets_of_a_full_wafer_have_no_exponent() -> None:
    run = tight_run(16)
    report = replace(run.compiled.report, activation_bytes=45_678_900_000)
    large = replace(run, compiled=replace(run.compiled, report=report))
    found = RULE.check(Facts(large))
    assert found is not None
    values = {c.knob: c.value for each in found.proposals for c in each}
    assert values["spill_mb"] == "11420"


def test_is_silent_with_room_and_in_a_pipeline() -> None:
    assert RULE.check(Facts(tight_run(44))) is None
    assert RULE.check(Facts(mlp_run())) is None
