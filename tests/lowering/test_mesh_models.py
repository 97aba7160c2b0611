"""Whole models through the mesh: placed, executed, audited, and equal to onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from engine.run import execute
from engine.values import run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.evaluate import default_inputs
from lowering.frontends.onnx import load_onnx
from lowering.machine_file import find_machine
from tests.factories.onnx_models import onnxruntime_outputs
from tests.factories.training import initial_inputs, losses

DATA = Path(__file__).parents[1] / "data"
STEPS = sorted(path.stem for path in (DATA / "train_steps").glob("*.onnx"))
QUICK = ("mlp", "resnet_s")
"""training steps that every run takes; the others are marked slow"""
SMALLEST = 1e-6
"""tensors below it are rounding: a gradient that is zero on paper, and its moment"""


def compiled(path: Path, machine: str) -> Compiled:
    return compile_graph(load_onnx(path), CompileConfig(machine=find_machine(machine)))


def mesh_outputs(made: Compiled, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return run_values(made.program, made.store, inputs).outputs()


def worst_error(ours: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray]) -> float:
    """Return the largest max |a - b| / max |b| of all outputs."""
    assert set(ours) == set(theirs) != set()
    return max(
        float(np.abs(ours[name] - array).max() / max(np.abs(array).max(), SMALLEST))
        for name, array in theirs.items()
    )


@pytest.mark.parametrize("machine", ["mesh-64x64", "wse2"])
@pytest.mark.parametrize("name", ["llama", "lstm", "mixtral"])
def test_model_fits_and_agrees(name: str, machine: str) -> None:
    path = DATA / "models" / f"{name}.onnx"
    made = compiled(path, machine)
    assert made.fits
    assert execute(made.program, made.store).ledger.ok
    inputs = default_inputs(made.graph, seed=5)
    assert worst_error(mesh_outputs(made, inputs), onnxruntime_outputs(path, inputs)) <= 1e-4


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in STEPS],
)
def test_training_step_agrees_and_its_loss_falls(name: str) -> None:
    path = DATA / "train_steps" / f"{name}.onnx"
    made = compiled(path, "wse2")
    assert made.fits
    assert execute(made.program, made.store).ledger.ok
    inputs = initial_inputs(made.graph)
    assert worst_error(mesh_outputs(made, inputs), onnxruntime_outputs(path, inputs)) <= 1e-3
    found = losses(made.graph, lambda fed: mesh_outputs(made, fed), steps=20)
    said = json.loads((path.parent / "meta.json").read_text())[path.name]
    assert (found[-1] < found[0]) is (said["loss_after_20"] < said["loss_first"]) is True
    theirs = losses(made.graph, lambda fed: onnxruntime_outputs(path, fed), steps=20)
    np.testing.assert_allclose(found, theirs, rtol=1e-3)


def test_kernels_of_a_training_step_say_their_phase() -> None:
    """One optimizer kernel a parameter, and one for the step count's bias corrections."""
    made = compiled(DATA / "train_steps" / "mlp.onnx", "wse2")
    phases = [dict(kernel.tags)["phase"] for kernel in made.program.kernels]
    assert set(phases) == {"forward", "loss", "backward", "optimizer"}
    parameters = [name for name in made.graph.inputs if name.startswith("plist_")]
    assert phases.count("optimizer") == len(parameters) + 1
    updated = {name for k in made.program.kernels if ("phase", "optimizer") in k.tags
               for name in k.writes}  # fmt: skip
    assert updated >= set(made.graph.outputs[1:])
    loss = next(k for k in made.program.kernels if made.graph.outputs[0] in k.writes)
    assert dict(loss.tags)["phase"] == "loss"
