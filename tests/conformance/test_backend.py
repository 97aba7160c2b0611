"""A sample of the suite, and that the mesh's kernels are what the outputs come from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

import engine.values
from engine.kernels.spec import Operation
from engine.mesh_order import mesh_evaluate
from tests.conformance.backend import WaferscopeBackend, run_model
from tests.conformance.exclusions import EXCLUSIONS, reason_for
from tests.conformance.report import count_groups, unexpected
from tests.conformance.suite import Case, Result, read_cases, run_cases

EVERY = 40
"""one case in so many is run here; `make conformance` runs all"""
INJECTED = (
    "test_relu",
    "test_gemm_all_attributes",
    "test_softmax_axis_1",
    "test_lstm_defaults",
    "test_averagepool_2d_default",
    "test_scatternd",
    "test_top_k",
    "test_conv_with_strides_padding",
)
"""cases of each family that must fail once a kernel's results are off by one"""


def sample() -> list[str]:
    return [case.name for case in read_cases()[::EVERY] if case.tier]


def test_selected_cases_are_those_of_the_survey() -> None:
    cases = read_cases()
    assert len({case.name for case in cases}) == len(cases) == 1413
    assert sum(case.first for case in cases) == 784
    assert sum(bool(case.tier) for case in cases) == 1262


def test_every_exclusion_names_a_selected_case() -> None:
    excluded = [reason_for(case.name) for case in read_cases()]
    assert set(excluded) - {""} == set(EXCLUSIONS.values())
    assert sum(bool(reason) for reason in excluded) <= 62
    assert not any(reason_for(case.name) for case in read_cases() if case.first)


def test_sampled_cases_pass_and_fail_when_a_kernel_is_at_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ONNX_HOME", os.fspath(tmp_path))
    results = run_cases([*sample(), *INJECTED])
    assert {result.name for result in results} >= set(INJECTED)
    assert unexpected(results) == []
    right = mesh_evaluate

    def faulty(op: Operation, *rest: Any) -> tuple[np.ndarray, ...]:
        return tuple(made + made.dtype.type(1) for made in right(op, *rest))

    monkeypatch.setattr(engine.values, "mesh_evaluate", faulty)
    broken = run_cases(INJECTED)
    assert [result.name for result in broken if not result.failure] == []


def test_surprises_are_reported_both_ways() -> None:
    excluded = "test_quantizelinear_int4"
    results = [
        Result("test_relu", "node", "boom", 0.1),
        Result(excluded, "node", "", 0.1),
        Result("test_add", "node", "", 0.1),
    ]
    assert unexpected(results) == [
        "test_relu fails: boom",
        f"{excluded} passes, though it is excluded",
    ]
    cases = [Case("test_relu", "1", True), Case(excluded, "5", False), Case("test_add", "1", True)]
    groups = count_groups(cases, results)
    assert groups["node cases selected"] == (2, 3)
    assert groups["m1: operators of 49 real graphs"] == (1, 2)


def reshape_model() -> Any:
    data = helper.make_tensor_value_info("data", TensorProto.FLOAT, [2, 6])
    shape = helper.make_tensor_value_info("shape", TensorProto.INT64, [2])
    out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    node = helper.make_node("Reshape", ["data", "shape"], ["out"])
    graph = helper.make_graph([node], "reshape", [data, shape], [out])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def test_shape_given_at_run_time_compiles_anew_for_each_value() -> None:
    rep = WaferscopeBackend.prepare(reshape_model())
    data = np.arange(12, dtype=np.float32).reshape(2, 6)
    for shape in ([3, 4], [4, 3], [3, 4]):
        (out,) = rep.run([data, np.array(shape, np.int64)])
        np.testing.assert_array_equal(out, data.reshape(shape))
    assert rep.compilations == 2


def test_one_device_is_offered() -> None:
    assert WaferscopeBackend.supports_device("CPU")
    assert not WaferscopeBackend.supports_device("CUDA")


def test_half_precision_output_keeps_its_dtype() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT16, [3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT16, [3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "half", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    (out,) = run_model(model, [np.array([-1, 0.5, 2], np.float16)])
    assert out.dtype == np.float16
    assert out.tolist() == [0, 0.5, 2]
