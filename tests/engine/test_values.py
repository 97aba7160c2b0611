"""Values of whole models in mesh order: onnxruntime, tiles, planted NaNs, half precision."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.machine import parse_machine
from engine.models import program_models
from engine.program import Program
from engine.store import TensorStore
from engine.values import (
    ValueRun,
    compare,
    cut_tile,
    main_result,
    result_matrix,
    run_values,
    tensor_error,
)
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.evaluate import default_inputs, reference
from lowering.frontends.onnx import load_onnx
from tests.factories.graphs import MODEL_NAMES, compiled_model, model_graph, model_path
from tests.factories.light import light_path, reseed_light, without_last
from tests.factories.onnx_models import Array, onnxruntime_outputs, relative_error, saved
from tests.factories.programs import three_kernels

MACHINES = ("wse2", "mesh-64x64")


@cache
def inputs_of(name: str) -> dict[str, Array]:
    return default_inputs(model_graph(name), seed=5)


@cache
def theirs_of(name: str) -> dict[str, Array]:
    return onnxruntime_outputs(model_path(name), inputs_of(name))


def values_of(name: str, machine: str) -> ValueRun:
    compiled = compiled_model(name, machine)
    return run_values(compiled.program, compiled.store, inputs_of(name))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", [*MODEL_NAMES, "demo-transformer", "demo-cnn"])
def test_outputs_agree_with_onnxruntime(name: str, machine: str) -> None:
    ours = values_of(name, machine).outputs()
    assert ours.keys() == theirs_of(name).keys()
    for output, array in theirs_of(name).items():
        assert ours[output].shape == array.shape
        assert relative_error(ours[output], array) <= 1e-4


def test_resnet50_with_numbers_agrees_on_its_logits(tmp_path: Path) -> None:
    path = saved(without_last(reseed_light(onnx.load(light_path("resnet50"))), "Softmax"), tmp_path)
    graph = load_onnx(path)
    compiled = compile_graph(graph, CompileConfig(machine=parse_machine("wse2")))
    inputs = default_inputs(graph, seed=5)
    ours = run_values(compiled.program, compiled.store, inputs).outputs()
    for name, array in onnxruntime_outputs(path, inputs).items():
        assert relative_error(ours[name], array) <= 1e-3


@pytest.mark.parametrize("name", ["bert", "convnext"])
def test_tensors_inside_agree_with_float64(name: str) -> None:
    compiled, run = compiled_model(name, "mesh-64x64"), values_of(name, "mesh-64x64")
    made = [tensor for kernel in compiled.program.kernels for tensor in kernel.writes]
    compare(run, reference(compiled.graph, inputs_of(name), made))
    assert set(run.errors) == set(made)
    assert max(error.ratio for error in run.errors.values()) <= 1e-5


def test_order_of_sums_depends_on_the_mesh() -> None:
    one, other = (values_of("gpt2_2l", machine).outputs() for machine in MACHINES)
    name = next(iter(one))
    assert not np.array_equal(one[name], other[name])
    assert relative_error(one[name], other[name]) <= 1e-4


def test_hand_written_program_has_its_values() -> None:
    small = three_kernels()
    found = run_values(small.program, small.store, {"x": small.x}).outputs()["y"]
    up, down = (small.store.get(key) for key in small.store)
    want = np.maximum(small.x.astype(np.float64) @ up, 0) @ down
    assert np.abs(found - want).max() <= 1e-6 * np.abs(want).max()


def test_samples_with_their_own_inputs_differ_and_shared_ones_do_not() -> None:
    small = three_kernels()
    two = np.stack([small.x, -small.x])
    own = run_values(small.program, small.store, {"x": two}, samples=2).outputs()["y"]
    shared = run_values(small.program, small.store, {"x": small.x}, samples=2).outputs()["y"]
    assert own.shape == shared.shape == (2, 4, 2)
    np.testing.assert_array_equal(own[0], shared[1])
    assert not np.array_equal(own[0], own[1])


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l", "convnext"])
def test_tiles_of_all_pes_hold_every_result_once(name: str) -> None:
    compiled, run = compiled_model(name, "mesh-64x64"), values_of(name, "mesh-64x64")
    models = program_models(compiled.program)
    for kernel in compiled.program.kernels:
        model, region = models[kernel.id], kernel.region
        result = main_result(kernel, model, run._inputs_of(kernel), "fp32")
        if result.dtype.kind != "f":
            continue
        numbers = np.arange(result.size, dtype=np.float32).reshape(result.shape)
        kept = [
            cut_tile(kernel, model, numbers, row, col).values
            for row in range(region.row, region.end_row)
            for col in range(region.col, region.end_col)
        ]
        assert sum(len(tile) for tile in kept) == model.problem.m * model.problem.n
        np.testing.assert_array_equal(np.sort(np.concatenate(kept)), np.arange(result.size))


def test_tile_of_one_pe_is_its_slice_of_the_result() -> None:
    small = three_kernels()
    run = run_values(small.program, small.store, {"x": small.x})
    h, y = run.tensors["h", 0], run.tensors["y", 0]
    east = run.tile("up", 0, 2)
    assert (east.rows, east.cols, east.tensor) == ((0, 3), (2, 3), "h")
    np.testing.assert_array_equal(east.values, h[:, 2:4].ravel())
    lower = run.tile("down", 3, 5)
    np.testing.assert_array_equal(lower.values, y[2:4].ravel())
    grid = run.tile("act", 3, 1)
    np.testing.assert_array_equal(grid.values, np.maximum(h[2:4, 0:2], 0).ravel())


def test_convolution_tile_is_a_strip_of_the_map() -> None:
    compiled, run = compiled_model("demo-cnn", "mesh-64x64"), values_of("demo-cnn", "mesh-64x64")
    kernel = next(k for k in compiled.program.kernels if k.family == "conv")
    model = program_models(compiled.program)[kernel.id]
    result = main_result(kernel, model, run._inputs_of(kernel), "fp32")
    matrix = result_matrix(kernel, model, result)
    assert matrix.shape == (model.problem.m, model.problem.n)
    height, width = result.shape[2:]
    np.testing.assert_array_equal(matrix[:, 0].reshape(height, width), result[0, 0])


def planted(compiled: Compiled, weight: str, index: tuple[int, ...], value: float) -> Compiled:
    """Return the program with one number of a weight replaced."""
    store = TensorStore()
    tensors = []
    for tensor in compiled.program.tensors:
        content = tensor.content
        if content is not None:
            array = np.array(compiled.store.get(content))
            if tensor.id == weight:
                array[index] = value
            content = store.put(array)
        tensors.append(replace(tensor, content=content))
    return replace(compiled, program=replace(compiled.program, tensors=tuple(tensors)), store=store)


@pytest.mark.parametrize(("value", "text"), [(np.nan, "nan"), (np.inf, "inf")])
def test_planted_nan_is_found_at_its_kernel_and_pe(value: float, text: str) -> None:
    compiled = compiled_model("mlp", "mesh-64x64")
    kernel = compiled.program.kernels[1]
    weight = kernel.spec.main_op.inputs[1]
    k, n = compiled.program.tensor(weight).shape
    bad = planted(compiled, weight, (k // 2, n - 1), value)
    inputs = {name: np.abs(array) for name, array in inputs_of("mlp").items()}
    found = run_values(bad.program, bad.store, inputs).first_nonfinite
    assert found is not None
    assert (found.kernel, found.sample) == (kernel.id, 0)
    assert found.tensor == kernel.spec.main_op.outputs[0]
    assert found.value in (text, "nan")
    assert found.index == (0, n - 1)
    assert found.pe is not None
    model = program_models(compiled.program)[kernel.id]
    result = np.arange(model.problem.m * n, dtype=np.float32).reshape(-1, n)
    assert n - 1 in cut_tile(kernel, model, result, *found.pe).values


def test_nonfinite_of_an_epilogue_has_no_pe() -> None:
    compiled = compiled_model("mlp", "mesh-64x64")
    kernel = compiled.program.kernels[0]
    bias = next(name for name in kernel.weights if name not in kernel.spec.main_op.inputs)
    bad = planted(compiled, bias, (0,), np.nan)
    found = run_values(bad.program, bad.store, inputs_of("mlp")).first_nonfinite
    assert found is not None
    assert (found.kernel, found.pe, found.value) == (kernel.id, None, "nan")


def test_healthy_run_has_no_nonfinite() -> None:
    assert values_of("mlp", "wse2").first_nonfinite is None


@pytest.mark.parametrize("name", ["mlp", "gpt2_2l", "bert", "convnext"])
def test_half_precision_storage_costs_accuracy_but_little(name: str) -> None:
    config = CompileConfig(machine=parse_machine("mesh-64x64"), storage="fp16")
    half = compile_graph(model_graph(name), config)
    ours = run_values(half.program, half.store, inputs_of(name)).outputs()
    single = values_of(name, "mesh-64x64").outputs()
    for output, array in theirs_of(name).items():
        assert relative_error(single[output], array) < relative_error(ours[output], array) < 2e-2


def test_weight_without_numbers_is_named() -> None:
    program: Program = compiled_model("demo-gpt2-small", "wse2").program
    with pytest.raises(ValueError, match="has no numbers; this model can be timed"):
        run_values(program, TensorStore(), inputs_of("demo-gpt2-small"))


def test_error_of_a_tensor_names_where_it_is_largest() -> None:
    ours = np.array([[1, 2], [3, 5]], np.float32)
    error = tensor_error("t", ours, np.array([[1.0, 2.0], [3.5, 4.0]]))
    assert (error.tensor, error.ratio, error.where) == ("t", 0.25, (1, 1))
    assert error.mean == pytest.approx(1.5 / 4 / 4)
    assert tensor_error("z", np.zeros(2, np.float32), np.zeros(2)).ratio == 0
