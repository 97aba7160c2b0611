"""Fusing: which operations share a kernel, and an order that computes."""

from __future__ import annotations

import pytest

from engine.kernels.dot.spec import Dot
from engine.kernels.move.spec import Reshape, Transpose
from engine.kernels.pointwise.spec import Map
from engine.kernels.reduce.spec import Normalize, Reduce, Softmax
from engine.kernels.spec import Operation
from engine.kernels.window.spec import Window
from lowering.passes.fuse import KernelDraft, family_of, fuse
from tests.factories.graphs import DEMO_NAMES, MODEL_NAMES, lowered_graph, tiny_graph


def names(draft: KernelDraft) -> list[str]:
    """Operations of a kernel, functions by their names."""
    return [op.fn if isinstance(op, Map | Reduce) else type(op).__name__ for op in draft.spec.ops]


def kernels(graph: str) -> list[list[str]]:
    return [names(draft) for draft in fuse(lowered_graph(graph))]


def test_bias_and_activation_join_their_product() -> None:
    assert kernels("mlp") == [["Dot", "add", "relu"], ["Dot", "add", "gelu"], ["Dot", "add"]]


def test_spelt_out_gelu_is_one_kernel_with_its_product() -> None:
    chain = ["Dot", "mul", "pow", "mul", "add", "mul", "tanh", "add", "mul"]
    assert kernels("gpt2_2l").count(chain) == 2


def test_residual_and_layer_norm_join_the_producer_that_comes_last() -> None:
    drafts = fuse(lowered_graph("demo-transformer"))
    joined = [d for d in drafts if "Normalize" in names(d) and d.family == "dot"]
    assert [names(d) for d in joined] == [["Dot", "add", "add", "Normalize"]] * 4
    # the sum is read again by the next residual, the normalised one by the next product
    assert [len(d.writes) for d in joined] == [2, 2, 2, 1]


def test_attention_is_scores_with_softmax_then_the_mix() -> None:
    found = kernels("demo-transformer")
    assert found.count(["Dot", "mul", "where", "Softmax"]) == 2
    assert found.count(["Dot", "Transpose", "Reshape"]) == 2
    assert found.count(["Dot", "add", "Reshape", "Transpose"]) == 6


def test_skip_connection_of_a_cnn_joins_the_later_convolution() -> None:
    found = kernels("demo-cnn")
    assert ["Conv", "add", "add", "relu"] in found
    assert ["Window"] in found
    assert [draft.family for draft in fuse(lowered_graph("demo-cnn"))] == [
        "conv", "window", "conv", "conv", "conv", "conv", "conv", "reduce", "dot",
    ]  # fmt: skip


def test_table_look_up_starts_a_kernel() -> None:
    first = fuse(lowered_graph("gpt2_2l"))[0]
    assert (first.family, first.reads) == ("gather", ("ids",))
    assert names(first)[:2] == ["Gather", "add"]


@pytest.mark.parametrize("name", [*MODEL_NAMES, *(f"demo-{name}" for name in DEMO_NAMES)])
def test_kernels_cover_the_graph_once_in_an_order_that_computes(name: str) -> None:
    graph = lowered_graph(name)
    drafts = fuse(graph)
    assert sum(len(d.spec.ops) for d in drafts) == len(graph.nodes)
    known = set(graph.inputs)
    for draft in drafts:
        assert set(draft.reads) <= known
        assert set(draft.weights) <= set(graph.constants) | graph.unknown
        inside = set(draft.reads) | set(draft.weights)
        for op in draft.spec.ops:
            assert set(op.inputs) <= inside
            inside |= set(op.outputs)
        assert draft.writes
        known |= set(draft.writes)
    assert set(graph.outputs) <= known


def test_operation_that_reads_two_kernels_joins_the_later() -> None:
    graph = tiny_graph(
        {"x": (2, 3), "w1": (3, 3), "w2": (3, 3), "a": (2, 3), "b": (2, 3), "y": (2, 3)},
        Dot(inputs=("x", "w1"), outputs=("a",)),
        Dot(inputs=("a", "w2"), outputs=("b",)),
        Map(inputs=("b", "a"), outputs=("y",), fn="add"),
    )
    first, second = fuse(graph)
    assert (first.reads, first.writes) == (("x",), ("a",))
    assert (names(second), second.reads, second.weights) == (["Dot", "add"], ("a",), ("w2",))


def test_reduction_over_positions_starts_a_kernel_and_over_features_does_not() -> None:
    shapes = {"x": (4, 3), "w": (3, 5), "a": (4, 5), "f": (4, 1), "p": (1, 5)}
    product = Dot(inputs=("x", "w"), outputs=("a",))
    features = Reduce(inputs=("a",), outputs=("f",), fn="mean", axes=(1,))
    positions = Reduce(inputs=("a",), outputs=("p",), fn="mean", axes=(0,))
    assert len(fuse(tiny_graph(shapes, product, features))) == 1
    assert len(fuse(tiny_graph(shapes, product, positions))) == 2


def test_tensor_of_the_middle_that_is_an_output_leaves_the_kernel() -> None:
    graph = tiny_graph(
        {"x": (2, 3), "w": (3, 3), "a": (2, 3), "y": (2, 3)},
        Dot(inputs=("x", "w"), outputs=("a",)),
        Map(inputs=("a",), outputs=("y",), fn="relu"),
        outputs=("a", "y"),
    )
    (draft,) = fuse(graph)
    assert draft.writes == ("a", "y")


@pytest.mark.parametrize(
    ("op", "family"),
    [
        (Dot(inputs=(), outputs=()), "dot"),
        (Softmax(inputs=(), outputs=(), axis=0), "reduce"),
        (Normalize(inputs=(), outputs=(), axes=(0,), epsilon=1e-5), "reduce"),
        (Map(inputs=(), outputs=(), fn="relu"), "pointwise"),
        (Reshape(inputs=(), outputs=(), shape=()), "move"),
        (Transpose(inputs=(), outputs=(), perm=()), "move"),
        (Window(inputs=(), outputs=(), fn="max", kernel=(1,), strides=(1,), pads=((0, 0),),
                dilations=(1,)), "window"),
    ],
)  # fmt: skip
def test_every_operation_has_a_family(op: Operation, family: str) -> None:
    assert family_of(op) == family
