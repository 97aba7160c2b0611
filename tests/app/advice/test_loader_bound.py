"""Loader: fires where decoding holds over 15 % of the critical path; more workers are tried."""

from __future__ import annotations

from app.advice.advisor import advise
from app.advice.facts import Facts
from app.advice.lab import CompileLab
from app.advice.loader_bound import RULE
from app.advice.rule import Change
from app.runs.run import Run, make_run
from engine.machine import parse_machine
from lowering.cache import StageCache
from lowering.config import CompileConfig
from tests.factories.graphs import model_graph


def slow_run(rate: float | None, workers: int = 1) -> Run:
    config = CompileConfig(
        machine=parse_machine("mesh-64x64"), decode_rate=rate, loader_workers=workers, samples=8
    )
    return make_run(1, model_graph("demo-mlp"), config, "demo-mlp")


def test_fires_when_samples_are_awaited_and_says_what_more_workers_gave() -> None:
    run = slow_run(8.5e8 / 50_000)
    found = RULE.check(Facts(run))
    assert found is not None
    assert "decoding samples on the host holds 9" in found.sentence
    assert ("loader", "1 worker, 50,000 cycles a sample each") in found.evidence
    assert found.proposals[0] == (Change("loader_workers", "2"),)
    advice = {each.rule.id: each for each in advise(run, CompileLab(run, StageCache()), 60.0)}
    best = advice["loader-bound"].best
    assert best is not None
    assert best.changes == (Change("loader_workers", "4"),)
    # eight samples by four workers: two rounds of decoding for eight
    assert 0.7 < best.gain < 0.75


def test_is_silent_without_a_loader_and_with_a_quick_one() -> None:
    assert RULE.check(Facts(slow_run(None))) is None
    assert RULE.check(Facts(slow_run(8.5e8 / 10))) is None
