"""Facts: causes of the worked example as printed in the contract; sums that must agree."""

from __future__ import annotations

from app.advice.facts import Facts
from app.runs.figures import cause_totals
from tests.app.sessions import mlp_run, mlp_streaming
from tests.factories.worked import worked_run


def test_causes_of_the_worked_example() -> None:
    totals = Facts(worked_run(1, 1)).totals
    assert {cause: n for cause, n in totals.items() if n} == {
        "compute": 30 + 60 + 30, "wait-output": 20 + 10, "drain": 50 + 15, "fill": 15 + 40,
        "wait-input": 20, "wait-fabric": 10,
    }  # fmt: skip


def test_totals_agree_with_the_maps() -> None:
    run = mlp_run()
    maps = {cause: n for cause, n in cause_totals(run) if cause != "unassigned"}
    assert Facts(run).totals == {**maps, "unassigned": 0}


def test_shares_are_of_the_regions() -> None:
    facts = Facts(worked_run(2, 2))
    assert facts.region_cycles == 3 * 90
    assert facts.share("compute") == 120 / 270
    assert facts.used_share == 3 / 8
    assert facts.slowest == "k2"


def test_causes_of_a_run_whose_kernels_take_turns_cover_the_whole_wafer() -> None:
    run = mlp_streaming().run
    facts = Facts(run)
    assert sum(facts.totals.values()) == run.machine.pes * run.timeline.makespan
    assert [tie for _, found in facts.waits for tie in found if tie.lever == "weights"]
