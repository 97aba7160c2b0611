"""Passes on weights kept as integers: moved to their products, quantised, and what stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.dequantize.spec import Dequantize
from engine.kernels.dot.spec import Dot
from engine.kernels.gather.spec import Gather
from engine.kernels.move.spec import Transpose
from lowering.evaluate import reference
from lowering.graph import Graph, Value
from lowering.passes import DequantizeLast, Fold, QuantizeWeights, run_passes
from lowering.passes.fuse import fuse
from lowering.passes.integers import kept_integers
from tests.factories.graphs import lowered_graph, tiny_graph

SHAPES = {"x": (5, 4), "wq": (6, 4), "ws": (6, 1), "f": (6, 4), "t": (4, 6), "y": (5, 6)}
OPS = (
    Dequantize(inputs=("wq", "ws"), outputs=("f",)),
    Transpose(inputs=("f",), outputs=("t",), perm=(1, 0)),
    Dot(inputs=("x", "t"), outputs=("y",)),
)


def integer_graph(*more: Dot | Gather, outputs: tuple[str, ...] = ("y",)) -> Graph:
    """Return x @ transpose(dequantised wq), then more operations."""
    graph = tiny_graph(SHAPES | {"z": (4, 6), "i": (2,), "r": (2, 4)}, *OPS, *more, outputs=outputs)
    integers = np.random.default_rng(0).integers(-128, 128, (6, 4)).astype(np.int8)
    values = {**graph.values, "wq": Value("wq", (6, 4), "int8"), "i": Value("i", (2,), "int64")}
    return replace(graph, values=values, constants={**graph.constants, "wq": integers})


def names(graph: Graph) -> list[str]:
    return [type(node.op).__name__ for node in graph.nodes]


def same_values(before: Graph, after: Graph, inputs: dict[str, np.ndarray]) -> None:
    ours, theirs = reference(after, inputs), reference(before, inputs)
    for name in before.outputs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6)


def test_transposes_act_on_what_is_stored_and_floats_come_last() -> None:
    graph = integer_graph()
    after = run_passes(graph)
    assert names(after) == ["Dequantize", "Dot"]
    integers, scale = (after.constants[name] for name in after.nodes[0].op.inputs)
    assert (integers.shape, integers.dtype.name, scale.shape) == ((4, 6), "int8", (1, 6))
    same_values(graph, after, {"x": np.eye(5, 4)})
    drafts = fuse(after)
    assert [(draft.family, draft.spec.main) for draft in drafts] == [("dot", 1)]


def test_second_product_gets_floats_of_its_own() -> None:
    graph = integer_graph(Dot(inputs=("z", "t"), outputs=("y2",)), outputs=("y", "y2"))
    graph = replace(graph, values={**graph.values, "z": Value("z", (4, 4), "float32"),
                                   "y2": Value("y2", (4, 6), "float32")})  # fmt: skip
    after = run_passes(graph)
    assert sorted(names(after)) == ["Dequantize", "Dequantize", "Dot", "Dot"]
    assert len({node.op.outputs for node in after.nodes}) == 4
    same_values(graph, after, {"x": np.eye(5, 4), "z": np.eye(4)})
    assert [draft.family for draft in fuse(after)] == ["dot", "dot"]


def test_floats_that_something_else_reads_are_folded() -> None:
    graph = integer_graph(Gather(inputs=("f", "i"), outputs=("r",), axis=0), outputs=("y", "r"))
    assert names(Fold().run(graph)) == ["Dot", "Gather"]
    assert kept_integers(graph) == frozenset()
    after = run_passes(graph)
    assert "Dequantize" in names(after)  # the product's own, moved behind its transpose
    same_values(graph, after, {"x": np.eye(5, 4), "i": np.array([5, 0])})


def test_graph_without_integers_is_given_back() -> None:
    graph = lowered_graph("mlp")
    assert DequantizeLast().run(graph) is graph


@pytest.mark.parametrize("name", ["mlp", "bert", "convnext"])
def test_quantised_weights_are_within_half_a_step_of_their_floats(name: str) -> None:
    graph = lowered_graph(name)
    after = QuantizeWeights().run(graph)
    made = [node.op for node in after.nodes if isinstance(node.op, Dequantize)]
    assert made
    for op in made:
        integers, scale = (after.constants[each] for each in op.inputs)
        weight = graph.constants[op.outputs[0].split(" for ")[0]]
        assert integers.dtype == np.int8
        assert np.abs(integers).max() == 127
        off = np.abs(integers * scale.astype(np.float64) - weight)
        assert (off <= scale * 0.5001).all()


def test_weights_that_are_not_finite_and_second_activations_stay() -> None:
    graph = tiny_graph(
        {"x": (4, 4), "w": (4, 4), "h": (4, 4), "y": (4, 4)},
        Dot(inputs=("x", "w"), outputs=("h",)), Dot(inputs=("h", "x"), outputs=("y",)),
    )  # fmt: skip
    broken = graph.constants["w"].copy()
    broken[1, 1] = np.inf
    assert names(QuantizeWeights().run(graph)) == ["Dequantize", "Dot", "Dot"]
    same = QuantizeWeights().run(replace(graph, constants={"w": broken}))
    assert names(same) == ["Dot", "Dot"]


def test_weights_without_numbers_become_integers_without_numbers() -> None:
    shapes = {"x": (4, 4), "w": (4, 4), "y": (4, 4)}
    graph = tiny_graph(shapes, Dot(inputs=("x", "w"), outputs=("y",)))
    unknown = replace(graph, constants={}, unknown=frozenset({"w"}))
    after = QuantizeWeights().run(unknown)
    assert after.unknown == set(after.nodes[0].op.inputs)
    assert not after.constants
    assert after.values[after.nodes[0].op.inputs[0]].shape == (4, 4)
