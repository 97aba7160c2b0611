"""Knobs of values: what a run keeps, the seed, and that fusing changes no result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.runs.opening import open_run
from app.runs.run import Run
from app.runs.values import compute_values, kept_values
from lowering.config import apply_knob
from tests.app.sessions import mesh_config, mlp_run


def turned(name: str, value: str) -> Run:
    return open_run(0, "mlp", apply_knob(mesh_config(samples=4), name, value), {}).run


@pytest.mark.parametrize("value", ["none", "bias", "activation+views"])
def test_fusing_less_gives_the_same_results(value: str) -> None:
    run = turned("fusion", value)
    computed = compute_values(run, None, 1)
    assert max(error.ratio for error in computed.values.errors.values()) < 1e-5
    assert computed.values.first_nonfinite is None
    fused = compute_values(mlp_run(), None, 1).values.outputs()["scores"]
    np.testing.assert_allclose(computed.values.outputs()["scores"], fused, rtol=1e-4, atol=1e-5)


def test_seed_makes_other_inputs_and_the_same_timing() -> None:
    run = turned("seed", "5")
    ours, theirs = (compute_values(r, None, 1).values.outputs() for r in (run, mlp_run()))
    assert not np.array_equal(ours["scores"], theirs["scores"])
    assert run.timeline.makespan == mlp_run().timeline.makespan


def test_budget_keeps_all_tensors_or_only_the_outputs() -> None:
    values = compute_values(mlp_run(), None, 1).values
    everything = kept_values(values, mlp_run().program, 1 << 20)
    assert everything.keys() > {"scores"}
    held = sum(array.nbytes for array in everything.values())
    assert kept_values(values, mlp_run().program, held).keys() == everything.keys()
    assert kept_values(values, mlp_run().program, held - 1).keys() == {"scores"}


def test_budget_is_the_knob_s() -> None:
    run = turned("values_mb", "2")
    assert run.config == replace(mlp_run().config, values_mb=2)
    assert run.program == mlp_run().program
