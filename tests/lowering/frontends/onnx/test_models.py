"""Whole models against onnxruntime, and what the import keeps of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

from demo_models import DEMOS, demo_path
from lowering.evaluate import default_inputs, reference
from lowering.frontends.onnx import load_onnx
from lowering.graph import Graph
from lowering.passes import Canonicalise, Fold, FoldBatchNorm
from tests.factories.light import light_path, reseed_light, without_last
from tests.factories.onnx_models import (
    Array,
    make_model,
    onnxruntime_outputs,
    relative_error,
    saved,
)

MODELS = Path(__file__).parents[3] / "data" / "models"


def assert_agrees(graph: Graph, path: Path, bound: float) -> None:
    inputs = default_inputs(graph, seed=5)
    ours = reference(graph, inputs)
    theirs = onnxruntime_outputs(path, inputs)
    assert list(theirs) == list(graph.outputs)
    for name, array in theirs.items():
        assert ours[name].shape == array.shape
        assert relative_error(ours[name], array) <= bound


@pytest.mark.parametrize("name", ["mlp", "bert", "gpt2_2l", "vit", "convnext"])
def test_reference_agrees_with_onnxruntime_before_and_after_passes(name: str) -> None:
    path = MODELS / f"{name}.onnx"
    graph = load_onnx(path)
    assert_agrees(graph, path, 1e-5)
    for each in (Canonicalise(), Fold(), FoldBatchNorm()):
        graph = each.run(graph)
    assert_agrees(graph, path, 1e-5)


@pytest.mark.parametrize("name", [name for name, demo in DEMOS.items() if not demo.shape_only])
def test_demo_agrees_with_onnxruntime(name: str) -> None:
    assert_agrees(load_onnx(demo_path(name)), demo_path(name), 1e-5)


@pytest.mark.parametrize("name", ["resnet50", "squeezenet"])
def test_light_model_with_numbers_agrees_on_its_logits(name: str, tmp_path: Path) -> None:
    model = without_last(reseed_light(onnx.load(light_path(name))), "Softmax")
    path = saved(model, tmp_path)
    graph = load_onnx(path)
    assert_agrees(graph, path, 1e-4)
    folded = FoldBatchNorm().run(Canonicalise().run(graph))
    assert len(folded.nodes) <= len(graph.nodes)
    assert_agrees(folded, path, 1e-4)


def test_light_resnet50_has_its_published_size() -> None:
    graph = load_onnx(light_path("resnet50"))
    running = 53_120
    assert graph.parameters == 25_557_032 + running
    assert sum(node.kind == "Conv" for node in graph.nodes) == 53


def test_light_vgg19_takes_no_memory_for_its_constants() -> None:
    graph = load_onnx(light_path("vgg19"))
    assert graph.parameters == 143_667_240
    held = {id(array.base): array for array in graph.constants.values()}
    assert all(0 in array.strides or array.nbytes < 1 << 20 for array in held.values())


def test_gpt2_small_is_known_by_shapes_alone() -> None:
    graph = load_onnx(demo_path("gpt2-small"))
    assert graph.parameters == 124_439_808
    assert "wte" in graph.unknown
    assert "wte" not in graph.constants
    with pytest.raises(ValueError, match="weights without numbers"):
        reference(graph, default_inputs(graph))


def test_without_values_large_weights_keep_their_shapes_only(tmp_path: Path) -> None:
    weights: dict[str, Array] = {
        "large": np.ones((512, 513), np.float32),
        "small": np.ones(513, np.float32),
    }
    node = helper.make_node("Gemm", ["x", "large", "small"], ["y"], name="fc")
    path = saved(make_model([node], {"x": (2, 512)}, {"y": (2, 513)}, weights), tmp_path)
    shapes, full = load_onnx(path, values=False), load_onnx(path)
    assert shapes.unknown == {"large"}
    assert set(shapes.constants) == {"small"}
    assert shapes.values["large"].shape == (512, 513)
    assert full.unknown == frozenset()
    assert shapes.parameters == full.parameters == 513 * 513


def test_nodes_keep_their_origin_and_source_type() -> None:
    graph = load_onnx(MODELS / "mlp.onnx")
    kinds = [node.kind for node in graph.nodes]
    assert kinds == ["Gemm", "Gemm", "Relu", "Gemm", "Gemm", "Gelu", "Gemm", "Gemm"]
    assert graph.nodes[0].origin == graph.nodes[1].origin
    assert len({node.name for node in graph.nodes}) == 8
    assert len(graph.source_hash) == 64


def test_default_inputs_are_seeded_and_within_the_table() -> None:
    graph = load_onnx(MODELS / "gpt2_2l.onnx")
    first, again = default_inputs(graph, seed=1), default_inputs(graph, seed=1)
    np.testing.assert_array_equal(first["ids"], again["ids"])
    assert first["ids"].max() > 200
    assert first["ids"].max() < 256
    assert (first["ids"] != default_inputs(graph, seed=2)["ids"]).any()


def test_default_mask_is_all_ones() -> None:
    graph = load_onnx(MODELS / "bert.onnx")
    inputs = default_inputs(graph)
    assert inputs["a_0"].max() > 1
    assert (inputs["a_1"] == 1).all()
