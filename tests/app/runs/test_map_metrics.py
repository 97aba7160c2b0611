"""Maps of the kernels' types and training phases, against the kernels one by one."""

from __future__ import annotations

import pkgutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import engine.kernels
from app.runs.map_metrics import BARE, CATEGORIES, KINDS, MAP_METRICS, PHASE_NAMES, map_field
from app.runs.opening import open_run
from app.runs.run import Run
from engine.machine import generic_mesh
from engine.metrics import METRICS
from lowering.config import CompileConfig
from lowering.passes.phases import PHASES
from tests.app.sessions import mlp_run, mlp_streaming

TRAINING = Path(__file__).parents[2] / "data" / "train_steps" / "mlp.onnx"


@pytest.fixture(scope="module")
def training() -> Run:
    """A training step as a layer pipeline."""
    config = CompileConfig(machine=generic_mesh(96, 96), samples=1, mode="pipeline")
    return open_run(880, str(TRAINING), config, {}).run


def test_every_family_of_kernels_is_a_type() -> None:
    families = {part.name for part in pkgutil.iter_modules(engine.kernels.__path__) if part.ispkg}
    assert set(KINDS) - set(BARE) == families


def test_every_category_map_begins_with_pes_without_a_kernel() -> None:
    assert all(names[:2] == BARE for names in CATEGORIES.values())
    assert {m.id for m in MAP_METRICS.values() if m.kind == "category"} == set(CATEGORIES)
    assert max(map(len, CATEGORIES.values())) <= 16  # levels that a terminal has


def test_engine_metrics_are_shown_as_they_are() -> None:
    assert [metric for metric in MAP_METRICS.values() if metric.id in METRICS] == [
        *METRICS.values()
    ]
    ours, field = map_field(mlp_run(), "traffic", 9), mlp_run().execution.fields.field
    assert (ours == field("traffic", 9)).all()


def test_each_region_carries_type_and_phase_of_its_kernel(training: Run) -> None:
    kinds, phases = (map_field(training, metric, 3) for metric in ("kind", "phase"))
    covered = np.zeros(training.grid, bool)
    for kernel in training.program.kernels:
        inside = kernel.region.slices()
        assert (kinds[inside] == KINDS.index(kernel.family)).all()
        assert (phases[inside] == PHASE_NAMES.index(dict(kernel.tags)["phase"])).all()
        covered[inside] = True
    for field in (kinds, phases):
        assert (field[~covered] == BARE.index("unassigned")).all()
    assert {"forward", "loss", "backward", "optimizer"} <= {
        PHASE_NAMES[c] for c in np.unique(phases)
    }
    assert set(PHASES) < set(PHASE_NAMES)


def test_inference_has_no_phase() -> None:
    assert {PHASE_NAMES[code] for code in np.unique(map_field(mlp_run(), "phase", 0))} == {
        "unassigned", "no phase"
    }  # fmt: skip


def test_streaming_shows_the_kernel_whose_turn_it_is() -> None:
    run = mlp_streaming().run
    fields = run.execution.fields
    for step in range(0, run.timeline.steps, 7):
        field = map_field(run, "kind", step)
        for rect, _ in run.program.areas():
            kernel = fields.kernel_at(rect.row, rect.col, step)
            assert kernel is not None
            assert field[rect.row, rect.col] == KINDS.index(run.program.kernel(kernel).family)


def test_dead_pes_are_defective() -> None:
    run = mlp_run()
    machine = replace(run.machine, defects=((0, 0), (63, 63)))
    execution = replace(run.execution, program=replace(run.program, machine=machine))
    field = map_field(replace(run, execution=execution), "kind", 0)
    assert [tuple(place) for place in np.argwhere(field == 0)] == [(0, 0), (63, 63)]


def test_a_step_outside_the_run_is_refused() -> None:
    with pytest.raises(IndexError, match="outside"):
        map_field(mlp_run(), "kind", 10**6)
