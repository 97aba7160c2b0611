"""Does not fit: fires on an overflow, is silent on a program that fits."""

from __future__ import annotations

from dataclasses import replace

from app.advice.does_not_fit import RULE
from app.advice.rule import Change
from app.runs.run import Run
from lowering.report import Overflow
from tests.app.advice.factory import facts_of
from tests.factories.worked import worked_run


def _overfull() -> Run:
    run = worked_run(2, 2)
    gap = Overflow("SRAM", "k2", 50_000, 49_152, 848, "B", (), ("raise the PE cap",))
    report = replace(run.compiled.report, overflows=(gap,), smallest_machine="wse2")
    program = replace(run.program, would_run=False)
    return replace(
        run, compiled=replace(run.compiled, report=report, program=program),
        execution=replace(run.execution, program=program),
    )  # fmt: skip


def test_fires_on_an_overflow() -> None:
    found = RULE.check(facts_of(_overfull()))
    assert found is not None
    assert found.goal == "fit"
    assert found.severity == "alert"
    assert "k2 needs 50,000 B, there are 49,152 (short by 848 B)" in found.sentence
    assert (Change("machine", "wse2"),) in found.proposals


def test_is_silent_when_it_fits() -> None:
    assert RULE.check(facts_of(worked_run(2, 2))) is None


def test_a_budget_that_keeps_all_on_the_wafer_is_questioned() -> None:
    run = _overfull()
    program = replace(run.program, mode="streaming")
    config = replace(run.config, spill_mb=1e9)
    streamed = replace(
        run, compiled=replace(run.compiled, program=program, config=config),
        execution=replace(run.execution, program=program),
    )  # fmt: skip
    found = RULE.check(facts_of(streamed))
    assert found is not None
    assert (Change("spill_mb", "auto"),) in found.proposals
    plain = RULE.check(facts_of(_overfull()))
    assert plain is not None
    assert (Change("spill_mb", "auto"),) not in plain.proposals
