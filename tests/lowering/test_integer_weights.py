"""Weight-only int8 through a whole compile: what the model quantised, and what the knob does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from engine.kernels.dequantize.spec import Dequantize
from engine.kernels.dot.spec import Dot
from engine.run import execute
from engine.values import compare, run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig, KnobError, apply_knob
from lowering.errors import UnsupportedOpError
from lowering.evaluate import default_inputs, reference
from lowering.frontends.onnx import load_onnx
from lowering.graph import Graph
from lowering.machine_file import find_machine
from tests.factories.graphs import model_graph, tiny_graph
from tests.factories.onnx_models import (
    Array,
    make_model,
    onnxruntime_outputs,
    relative_error,
    saved,
)

RNG = np.random.default_rng(3)
INT8 = RNG.integers(-128, 128, (24, 16)).astype(np.int8)
UINT8 = RNG.integers(0, 256, (24, 16)).astype(np.uint8)
SCALES = (0.001 + 0.01 * RNG.random((4, 16))).astype(np.float32)
ZEROS = RNG.integers(100, 150, (4, 16)).astype(np.uint8)
SMALL = {"x": (8, 8), "w": (8, 3), "y": (8, 3)}
CASES: dict[str, tuple[list[Array], dict[str, int]]] = {
    "a tensor": ([INT8, SCALES[0, 0]], {}),
    "a column": ([INT8, SCALES[0]], {"axis": 1}),
    "a row": ([UINT8, SCALES.ravel()[:24], ZEROS.ravel()[:24]], {"axis": 0}),
    "blocks of rows": ([UINT8, SCALES, ZEROS], {"axis": 0, "block_size": 6}),
    "blocks of columns": ([INT8, SCALES.ravel()[:48].reshape(24, 2)], {"axis": 1, "block_size": 8}),
}


def compiled(graph: Graph, machine: str = "mesh-16x16", **knobs: str) -> Compiled:
    config = CompileConfig(machine=find_machine(machine), mode="pipeline")
    for name, value in knobs.items():
        config = apply_knob(config, name, value)
    return compile_graph(graph, config)


def kinds(made: Compiled) -> list[list[str]]:
    return [[type(op).__name__ for op in kernel.spec.ops] for kernel in made.program.kernels]


def check_against_onnxruntime(
    path: Path, shape: tuple[int, ...], machine: str = "mesh-16x16"
) -> Compiled:
    """Compile, run and compare; return what was compiled."""
    made = compiled(load_onnx(path), machine)
    assert execute(made.program, made.store, every_step=True).ledger.ok
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    ours = run_values(made.program, made.store, {"x": x}).outputs()
    for name, theirs in onnxruntime_outputs(path, {"x": x}, as_written=True).items():
        assert relative_error(ours[name], theirs) <= 1e-5
    return made


def dequantized(
    weights: list[Array], attributes: dict[str, int]
) -> tuple[onnx.NodeProto, dict[str, Array]]:
    names = [f"w{index}" for index in range(len(weights))]
    node = helper.make_node("DequantizeLinear", names, ["w"], name="floats", **attributes)
    return node, dict(zip(names, weights, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_weight_with_a_scale_for(case: str, tmp_path: Path) -> None:
    weights, attributes = CASES[case]
    node, stored = dequantized(weights, attributes)
    nodes = [node, helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    model = make_model(nodes, {"x": (6, 24)}, {"y": (6, 16)}, stored, opset=21)
    made = check_against_onnxruntime(saved(model, tmp_path), (6, 24))
    assert kinds(made) == [["Dequantize", "Dot"]]
    kernel = made.program.kernels[0]
    assert kernel.id == "product"
    assert kernel.origin == ("product", "floats")
    assert {made.program.tensor(name).dtype for name in kernel.weights} <= {
        "int8", "uint8", "float32",
    }  # fmt: skip
    assert made.graph.parameters == 24 * 16
    alone = compiled(made.graph, "mesh-1x1")
    held = next(buffer for buffer in alone.program.buffers if buffer.role == "weights")
    assert held.name == "weights as int8, scales"
    assert held.size == 24 * 16 + sum(each.nbytes for each in weights[1:])


def test_gemm_that_transposes_keeps_its_integers(tmp_path: Path) -> None:
    node, stored = dequantized([INT8, SCALES.ravel()[:24]], {"axis": 0})
    gemm = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1, alpha=0.5, name="product")
    stored["b"] = np.ones(24, np.float32)
    model = make_model([node, gemm], {"x": (5, 16)}, {"y": (5, 24)}, stored, opset=21)
    made = check_against_onnxruntime(saved(model, tmp_path), (5, 16))
    assert kinds(made)[0][:2] == ["Dequantize", "Dot"]
    integers = made.program.tensor(made.program.kernels[0].spec.ops[0].inputs[0])
    assert (integers.shape, integers.dtype) == ((16, 24), "int8")


def test_convolution_keeps_its_integers(tmp_path: Path) -> None:
    weights = RNG.integers(-128, 128, (6, 2, 3, 3)).astype(np.int8)
    node, stored = dequantized([weights, SCALES[0, :6]], {"axis": 0})
    conv = helper.make_node("Conv", ["x", "w"], ["y"], group=2, pads=[1, 1, 1, 1])
    model = make_model([node, conv], {"x": (1, 4, 8, 8)}, {"y": (1, 6, 8, 8)}, stored, opset=21)
    made = check_against_onnxruntime(saved(model, tmp_path), (1, 4, 8, 8))
    assert kinds(made) == [["Dequantize", "Conv"]]


@pytest.mark.parametrize("zeros", [None, (6, 2), (12,)])
@pytest.mark.parametrize("bias", [False, True])
def test_products_of_8_bit_blocks_that_exporters_write(
    zeros: tuple[int, ...] | None, bias: bool, tmp_path: Path
) -> None:
    stored: dict[str, Array] = {
        "q": RNG.integers(0, 256, (6, 2, 32)).astype(np.uint8), "s": SCALES.ravel()[:12],
        "b": np.arange(6, dtype=np.float32),
    }  # fmt: skip
    if zeros:
        stored["z"] = RNG.integers(0, 256, zeros).astype(np.uint8)
    names = ["x", "q", "s", "z" if zeros else "", "", "b" if bias else ""]
    node = helper.make_node("MatMulNBits", names, ["y"], domain="com.microsoft", name="product",
                            K=64, N=6, bits=8, block_size=32)  # fmt: skip
    model = make_model([node], {"x": (3, 64)}, {"y": (3, 6)}, stored)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    made = check_against_onnxruntime(saved(model, tmp_path), (3, 64))
    assert kinds(made)[0][:2] == ["Dequantize", "Dot"]
    assert made.graph.parameters == 6 * 64 + 6 * bias


@pytest.mark.parametrize(("bits", "block"), [(4, 32), (8, 48)])
def test_other_bits_and_blocks_are_refused_with_a_reason(
    bits: int, block: int, tmp_path: Path
) -> None:
    stored: dict[str, Array] = {"q": np.zeros((6, 2, 32), np.uint8), "s": np.ones(12, np.float32)}
    node = helper.make_node("MatMulNBits", ["x", "q", "s"], ["y"], domain="com.microsoft",
                            K=64, N=6, bits=bits, block_size=block)  # fmt: skip
    model = make_model([node], {"x": (3, 64)}, {"y": (3, 6)}, stored)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    with pytest.raises(UnsupportedOpError, match=r"8 bits are covered|they must divide"):
        load_onnx(saved(model, tmp_path))


def test_weight_of_two_products_is_made_floats_in_each(tmp_path: Path) -> None:
    node, stored = dequantized([INT8[:16], SCALES[0]], {"axis": 1})
    nodes = [
        node,
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("MatMul", ["h", "w"], ["y"]),
    ]
    model = make_model(nodes, {"x": (6, 16)}, {"y": (6, 16)}, stored, opset=21)
    made = check_against_onnxruntime(saved(model, tmp_path), (6, 16))
    assert kinds(made) == [["Dequantize", "Dot"], ["Dequantize", "Dot"]]


def test_what_is_no_weight_of_a_product_alone_is_folded(tmp_path: Path) -> None:
    """A table that rows are looked up in, too, keeps floats: one form for both readers."""
    node, stored = dequantized([INT8[:16], SCALES[0]], {"axis": 1})
    nodes = [
        node,
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Add", ["h", "w"], ["y"]),
    ]
    model = make_model(nodes, {"x": (16, 16)}, {"y": (16, 16)}, stored, opset=21)
    made = check_against_onnxruntime(saved(model, tmp_path), (16, 16))
    assert not any("Dequantize" in ops for ops in kinds(made))


def test_several_matrices_are_folded(tmp_path: Path) -> None:
    node, stored = dequantized([INT8.reshape(2, 12, 16), SCALES[0, 0]], {})
    nodes = [node, helper.make_node("MatMul", ["x", "w"], ["y"])]
    model = make_model(nodes, {"x": (2, 3, 12)}, {"y": (2, 3, 16)}, stored, opset=21)
    made = check_against_onnxruntime(saved(model, tmp_path), (2, 3, 12))
    assert not any("Dequantize" in ops for ops in kinds(made))


def test_activations_that_are_quantised_and_back_stay_operations(tmp_path: Path) -> None:
    """The form that quantising tools write: both operands pass through integers."""
    node, stored = dequantized([INT8, SCALES[0]], {"axis": 1})
    stored |= {"step": np.array(0.05, np.float32), "zero": np.array(3, np.int8)}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "step", "zero"], ["i"]),
        helper.make_node("DequantizeLinear", ["i", "step", "zero"], ["f"]),
        node,
        helper.make_node("MatMul", ["f", "w"], ["y"]),
    ]
    model = make_model(nodes, {"x": (6, 24)}, {"y": (6, 16)}, stored, opset=21)
    made = check_against_onnxruntime(saved(model, tmp_path), (6, 24))
    assert ["Dequantize", "Dot"] in kinds(made)


def test_weights_without_numbers_are_timed_as_integers(tmp_path: Path) -> None:
    large = np.zeros((1200, 1000), np.int8)
    node, stored = dequantized([large, np.ones(1000, np.float32)], {"axis": 1})
    nodes = [node, helper.make_node("MatMul", ["x", "w"], ["y"])]
    model = make_model(nodes, {"x": (6, 1200)}, {"y": (6, 1000)}, stored, opset=21)
    path = saved(model, tmp_path)
    shaped = compiled(load_onnx(path, values=False), "mesh-64x64")
    known = compiled(load_onnx(path), "mesh-64x64")
    assert kinds(shaped) == [["Dequantize", "Dot"]]
    assert shaped.report.rows == known.report.rows
    assert shaped.graph.parameters == 1_200_000


def test_knob_quarters_the_weights_and_shows_its_error() -> None:
    graph = model_graph("mlp")
    plain, small = compiled(graph), compiled(graph, weights="int8")
    kept = [made.report.parameter_bytes for made in (plain, small)]
    assert kept[1] < 0.4 * kept[0]
    assert execute(small.program, small.store, every_step=True).ledger.ok
    inputs = default_inputs(graph)
    run = run_values(small.program, small.store, inputs)
    compare(run, reference(graph, inputs))
    assert 1e-4 < max(error.ratio for error in run.errors.values()) < 0.02
    assert "keep their weights as int8" in "\n".join(small.report.notes)
    assert "int8" not in "\n".join(plain.report.notes)


def test_knob_quantises_symmetrically_a_column_at_a_time() -> None:
    graph = tiny_graph(
        {"x": (8, 8), "w": (8, 3), "y": (8, 3)}, Dot(inputs=("x", "w"), outputs=("y",))
    )
    weights = np.zeros((8, 3), np.float32)
    weights[:, 0] = np.arange(8) / 7 * 2
    weights[:, 1] = -127
    small = compiled(replace(graph, constants={"w": weights}), weights="int8")
    run = run_values(small.program, small.store, {"x": np.eye(8, dtype=np.float32)})
    step = np.float32(2 / 127)
    wanted = np.round(weights[:, 0] / step) * step
    np.testing.assert_allclose(run.outputs()["y"][:, 0], wanted, rtol=1e-6)
    assert run.outputs()["y"][:, 1].tolist() == [-127] * 8
    assert run.outputs()["y"][:, 2].tolist() == [0] * 8


def test_floats_of_integers_are_rounded_to_the_storage_dtype() -> None:
    graph = tiny_graph(
        {"x": (8, 8), "w": (8, 3), "y": (8, 3)}, Dot(inputs=("x", "w"), outputs=("y",))
    )
    small = compiled(graph, weights="int8", dtype="fp16")
    made = run_values(small.program, small.store, {"x": np.eye(8, dtype=np.float32)}).outputs()["y"]
    assert made.tolist() == made.astype(np.float16).astype(np.float32).tolist()
    op = small.program.kernels[0].spec.ops[0]
    assert isinstance(op, Dequantize)


def test_integers_take_a_quarter_of_the_wavelets_through_the_ports() -> None:
    graph = model_graph("mlp")
    words = []
    for weights in ("stored", "int8"):
        made = compiled(graph, mode="streaming", weights=weights)
        assert execute(made.program, made.store, every_step=True).ledger.ok
        words.append(sum(stream.words for stream in made.program.streams))
    constants = sum(
        t.elements for t in made.program.tensors if t.role == "weight" and t.dtype == "float32"
    )
    assert words[0] == graph.parameters
    integers = sum(t.elements for t in made.program.tensors if t.dtype == "int8")
    assert words[1] == pytest.approx(integers / 4 + constants, abs=len(made.program.streams))


def test_a_wrong_choice_is_refused() -> None:
    with pytest.raises(KnobError, match="knob 'weights' is 'int4', must be one of stored, int8"):
        apply_knob(CompileConfig(), "weights", "int4")
