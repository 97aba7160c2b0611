"""Host ports: fires over 15 % of the critical path."""

from __future__ import annotations

from dataclasses import replace

from app.advice.advisor import advise
from app.advice.host_bound import RULE
from app.advice.lab import CompileLab
from app.advice.rule import Change, Changes
from app.runs.opening import open_run
from app.runs.run import Run, make_run
from engine.kernels.dot.spec import Dot
from engine.machine import generic_mesh
from lowering.cache import StageCache
from lowering.config import CompileConfig, apply_knob
from tests.app.advice.factory import facts_of
from tests.app.sessions import mesh_config
from tests.factories.graphs import tiny_graph
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


def flooded(rate: float, channels: int | None = None) -> Run:
    """Return a product of large inputs and little work behind host ports of so many wavelets."""
    shapes = {"x": (64, 512), "w0": (512, 4), "y": (64, 4)}
    graph = tiny_graph(shapes, Dot(inputs=("x", "w0"), outputs=("y",)))
    mesh = replace(generic_mesh(32, 32), host_wavelets_per_cycle=rate)
    config = CompileConfig(machine=mesh, mode="pipeline", samples=8, host_channels=channels)
    return make_run(1, graph, config, "flooded")


def tried(run: Run) -> dict[Changes, float]:
    """Return what each proposal gained when it was tried."""
    advice = {each.rule.id: each for each in advise(run, CompileLab(run, StageCache()), 60.0)}
    return {each.changes: each.gain for each in advice["host-bound"].tried}


def test_what_is_proposed_was_tried() -> None:
    run = flooded(1.0)
    # 64 x 512 wavelets, one a cycle; half as many in fp16
    assert run.timeline.makespan >= 8 * 64 * 512
    assert 0.45 < tried(run)[(Change("dtype", "fp16"),)] < 0.52
    gains = tried(flooded(32.0, channels=1))
    assert gains[(Change("host_channels", "auto"),)] > 0.75


def test_is_silent_without_a_host() -> None:
    assert RULE.check(facts_of(worked_run(2, 2))) is None
