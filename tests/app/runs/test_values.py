"""Values of a run: right to float32, inputs checked, outputs written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.cli.main import main
from app.runs.run import Run, make_run
from app.runs.values import ValuesError, check_inputs, compute_values, read_inputs, write_outputs
from engine.machine import generic_mesh
from lowering.config import CompileConfig
from lowering.evaluate import default_inputs, reference
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.passes.recompute import AGAIN
from tests.app.sessions import mlp_run
from tests.lowering.frontends.transformer.small import LLAMA, Seeded
from tests.lowering.test_training import longer_step

MESH = ("--machine", "mesh-64x64")


def test_values_equal_the_reference_to_float32() -> None:
    run = mlp_run()
    inputs = default_inputs(run.compiled.graph, 5)
    found = compute_values(run, inputs, 1).values
    expected = reference(run.compiled.graph, inputs)["scores"]
    error = np.abs(found.outputs()["scores"] - expected).max() / np.abs(expected).max()
    assert error < 1e-5
    assert found.errors["scores"].ratio == pytest.approx(error)


def test_command_line_reads_inputs_and_writes_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = mlp_run().compiled.graph
    inputs = {name: np.stack([array, 2 * array])
              for name, array in default_inputs(graph, 1).items()}  # fmt: skip
    np.savez(tmp_path / "x.npz", **inputs)  # type: ignore[arg-type]
    words = ["run", "mlp", *MESH, "--samples", "2", "--values", "all", "--json"]
    files = ["--inputs", str(tmp_path / "x.npz"), "--outputs", str(tmp_path / "y.npz")]
    assert main([*words, *files, "-o", str(tmp_path / "r.wscope")]) == 0
    assert json.loads(capsys.readouterr().out)["values"]["samples"] == 2
    outputs = read_inputs(tmp_path / "y.npz")["scores"]
    for sample in range(2):
        own = {name: array[sample] for name, array in inputs.items()}
        expected = reference(graph, own)["scores"]
        np.testing.assert_allclose(outputs[sample], expected, rtol=1e-4, atol=1e-5)


def test_recording_carries_the_tensors_of_sample_0(tmp_path: Path) -> None:
    from app.runs.saving import load_run

    path = tmp_path / "r.wscope"
    assert main(["run", "mlp", *MESH, "--values", "first", "-o", str(path)]) == 0
    assert load_run(1, path).run.values["scores"].shape == (4, 10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "is missing; the model's inputs are"),
        ({"other": np.zeros(3)}, "there is no input 'other'; the model's inputs are"),
    ],
)
def test_inputs_with_wrong_names_are_refused(change: dict[str, np.ndarray], message: str) -> None:
    graph = mlp_run().compiled.graph
    inputs = {**default_inputs(graph), **change} if change else {}
    with pytest.raises(ValuesError, match=message):
        check_inputs(graph, inputs, 1)


def test_inputs_with_wrong_shape_or_dtype_are_refused() -> None:
    graph = mlp_run().compiled.graph
    name, array = next(iter(default_inputs(graph).items()))
    with pytest.raises(ValuesError, match="has shape"):
        check_inputs(graph, {name: array[..., :-1]}, 1)
    with pytest.raises(ValuesError, match=f"there is no input '{name}s'; did you mean '{name}'"):
        check_inputs(graph, {f"{name}s": array}, 1)
    with pytest.raises(ValuesError, match=r"complex64, the model takes float32; convert it with"):
        check_inputs(graph, {name: array.astype(np.complex64)}, 1)


def test_unreadable_inputs_and_outputs_are_sentences(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(b"not a zip")
    with pytest.raises(ValuesError, match="cannot be read as"):
        read_inputs(path)
    np.savez(path, a=np.array([{}], dtype=object))
    with pytest.raises(ValuesError, match="cannot be read as"):
        read_inputs(path)
    with pytest.raises(ValuesError, match="cannot write"):
        write_outputs(tmp_path / "no" / "y.npz", {})


def test_shape_only_model_cannot_be_evaluated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "gpt2-small", "--values", "first", "--samples", "1"]) == 2
    assert "without numbers" in capsys.readouterr().err


def test_contradicting_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mlp", *MESH, "--values", "none", "--outputs", "y.npz"]) == 2
    assert "make no sense" in capsys.readouterr().err


def test_values_of_the_first_sample_are_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mlp", *MESH, "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert set(out["values"]["errors"]) == {"relu0", "relu1", "scores"}
    assert out["values"]["max_error"] == max(out["values"]["errors"].values()) < 1e-5
    assert out["values"]["first_nonfinite"] is None
    assert "float64 reference" in out["standing"]["values"]
    assert main(["run", "mlp", *MESH, "--values", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["values"] is None


def test_every_tensor_that_leaves_a_kernel_is_compared() -> None:
    from app.runs.opening import open_run
    from tests.app.sessions import mesh_config

    run = open_run(930, "cnn", mesh_config(samples=1), {}).run
    values = compute_values(run, None, 1).values
    written = {name for kernel in run.program.kernels for name in kernel.writes}
    assert set(values.errors) == written
    assert max(error.ratio for error in values.errors.values()) < 1e-5


def test_shapes_alone_are_timed_without_being_asked_for_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "gpt2-small", "--samples", "1"]) == 0
    assert "it can be timed, not evaluated" in capsys.readouterr().out


def without_error(run: Run) -> set[str]:
    """Return the tensors that leave a kernel and are not compared with a float64 reference."""
    found = compute_values(run, None, 1).values
    written = {name for kernel in run.program.kernels for name in kernel.writes}
    named = {name for node in run.compiled.fed.nodes for name in node.op.outputs}
    others = [error.ratio for name, error in found.errors.items() if name not in named]
    assert others
    assert max(others) < 1e-4
    return written - set(found.errors)


def test_parts_of_a_tile_loop_have_a_reference_of_their_own() -> None:
    sides = replace(LLAMA, heads=8, kv_heads=4, width=16, inner=16)
    load = ModelOptions(task="prefill", batch=1, sequence=160).resolved()
    mesh = replace(generic_mesh(8, 8), sram_bytes=12_000, reserved_sram_bytes=2_000)
    config = CompileConfig(machine=mesh, mode="streaming", samples=1)
    run = make_run(1, build_transformer("longer", sides, load, Seeded()), config, "longer")
    assert any(name.endswith("[0]") for kernel in run.program.kernels for name in kernel.writes)
    assert without_error(run) == set()


def test_what_is_made_again_has_a_reference_of_its_own() -> None:
    config = CompileConfig(machine=generic_mesh(32, 32), mode="streaming", activation_mb=0.001)
    run = make_run(1, longer_step(), config, "step")
    assert any(name.endswith(AGAIN) for kernel in run.program.kernels for name in kernel.writes)
    assert without_error(run) == set()
