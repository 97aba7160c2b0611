"""`run --inputs` where an input says how to lay out: it becomes part of the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from app.cli.main import OK, UNSUPPORTED, USAGE, main
from lowering.frontends.onnx import supported_operators
from tests.factories.onnx_models import onnxruntime_outputs, saved


@pytest.fixture
def reshaping(tmp_path: Path) -> Path:
    """A model that lays x out by the numbers of another input."""
    graph = helper.make_graph(
        [helper.make_node("Reshape", ["x", "sides"], ["flat"], name="lay_out"),
         helper.make_node("Softmax", ["flat"], ["y"], name="rows", axis=-1)],
        "reshaping",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 6]),
         helper.make_tensor_value_info("sides", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["a", "b"])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 20)]
    return saved(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path)


def fed(folder: Path, **arrays: Any) -> Path:
    path = folder / "fed.npz"
    np.savez(path, **arrays)
    return path


def test_fed_shape_is_part_of_the_program(reshaping: Path, tmp_path: Path) -> None:
    x = np.arange(12, dtype=np.float32).reshape(2, 6) / 7
    arrays = {"x": x, "sides": np.array([4, 3])}
    given, made = fed(tmp_path, **arrays), tmp_path / "made.npz"
    words = ["run", str(reshaping), "--machine", "mesh-8x8", "--inputs", str(given)]
    assert main([*words, "--outputs", str(made)]) == OK
    with np.load(made) as found:
        assert found["y"].shape == (4, 3)
        theirs = onnxruntime_outputs(reshaping, arrays)["y"]
        np.testing.assert_allclose(found["y"], theirs, rtol=1e-5)


def test_shape_that_is_not_fed_is_asked_for(
    reshaping: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(reshaping), "--machine", "mesh-8x8"]) == UNSUPPORTED
    assert "give 'sides' its value with run --inputs" in capsys.readouterr().err


def test_fed_shape_of_another_length_says_what_was_expected(
    reshaping: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = fed(tmp_path, x=np.zeros((2, 6), np.float32), sides=np.array([3, 2, 2]))
    assert main(["run", str(reshaping), "--machine", "mesh-8x8", "--inputs", str(given)]) == USAGE
    said = capsys.readouterr().err
    assert "input 'sides' is fixed to an array of shape (3,); the model declares (2,)" in said


def test_operators_with_a_body_of_covered_ones_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["ops", "--json"]) == OK
    listed = json.loads(capsys.readouterr().out)
    assert listed == list(supported_operators()) == sorted(listed)
    assert {"Conv", "GroupNormalization", "CenterCropPad"} <= set(listed)
    assert not {"StringConcat", "NonZero"} & set(listed)
