"""The marker `waferscope` in a project of its own, run by a pytest of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from demo_models import demo_path

PROJECT = """
import pytest

mlp = pytest.mark.waferscope


@mlp("own.onnx", "makespan > 100000000", machine="mesh-64x64", samples=3)
def test_passes(waferscope_run):
    assert waferscope_run.program.samples == 3


@mlp("own.onnx", "makespan > 10", machine="mesh-64x64")
def test_gate_without_the_fixture():
    pass


@mlp("mlp", machine="mesh-64x64", sram_bytes=4200)
def test_does_not_fit():
    pass


@mlp("own.onnx", "makespam > 10")
def test_condition_that_names_nothing():
    pass


@mlp("missing.onnx")
def test_no_model():
    pass


@mlp("own.onnx", samplez=3)
def test_no_such_knob():
    pass


@mlp()
def test_names_no_model():
    pass


def test_without_the_marker(waferscope_run):
    pass


def test_of_something_else():
    pass
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_models.py").write_text(PROJECT)
    shutil.copy(demo_path("mlp"), folder / "own.onnx")
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-rA", "-p", "no:cacheprovider",
               "-p", "no:dash"]  # fmt: skip
    environment = {**os.environ, "COLUMNS": "400"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


def test_what_holds_passes_and_others_are_left_alone(report: str) -> None:
    assert "PASSED test_models.py::test_passes" in report
    assert "PASSED test_models.py::test_of_something_else" in report
    assert "2 passed" in report


@pytest.mark.parametrize(
    ("name", "verdict", "reason"),
    [
        ("test_gate_without_the_fixture", "FAILED", "makespan > 10 holds: makespan_cycles is"),
        ("test_does_not_fit", "FAILED", "mlp on mesh-64x64[sram_bytes=4200]"),
        ("test_condition_that_names_nothing", "FAILED", "did you mean 'makespan'"),
        ("test_no_model", "ERROR", "there is no file or demo 'missing.onnx'"),
        ("test_no_such_knob", "ERROR", "unknown knob 'samplez'; did you mean 'samples'?"),
        ("test_names_no_model", "ERROR", "needs a model: a file or a demo's name"),
        ("test_without_the_marker", "ERROR", "needs @pytest.mark.waferscope(model, ...)"),
    ],
)
def test_what_is_wrong_fails_with_its_reason(
    report: str, name: str, verdict: str, reason: str
) -> None:
    own = report.split(f" {name} ", 1)[1].split("\n____", 1)[0]
    assert reason in own
    assert "Traceback" not in own
    assert f"{verdict} test_models.py::{name}" in report


def test_marker_is_explained_in_the_list_of_markers() -> None:
    command = [sys.executable, "-m", "pytest", "--markers", "-p", "no:dash"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    assert "@pytest.mark.waferscope(model, *fail_on, machine='wse2', dims=None, **knobs)" in text
