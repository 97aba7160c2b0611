"""Host ports: fires over 15 % of the critical path."""

from __future__ import annotations

from app.advice.host_bound import RULE
from app.advice.rule import Change
from app.runs.opening import open_run
from lowering.config import apply_knob
from tests.app.advice.factory import facts_of
from tests.app.sessions import mesh_config
from tests.factories.worked import worked_run


def test_fires_when_the_host_holds_the_path() -> None:
    found = RULE.check(facts_of(worked_run(2, 2), critical=({"k2": 60}, 0, 30)))
    assert found is not None
    assert found.sentence == "the host ports hold 33.3 % of the critical path"


def test_proposes_all_channels_where_the_chosen_ones_are_the_limit() -> None:
    found = RULE.check(facts_of(worked_run(2, 2), critical=({"k2": 60}, 0, 30)))
    assert found is not None
    assert Change("host_channels", "auto") not in [
        c for changes in found.proposals for c in changes
    ]
    run = open_run(1, "mlp", apply_knob(mesh_config(), "host_channels", 1), {}).run
    found = RULE.check(facts_of(run, critical=({}, 0, run.timeline.makespan)))
    assert found is not None
    assert found.proposals[0] == (Change("host_channels", "auto"),)


def test_is_silent_without_a_host() -> None:
    assert RULE.check(facts_of(worked_run(2, 2))) is None
