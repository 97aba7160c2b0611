"""Whole transformers: decode continues prefill, attention sees what it may, layers are equal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.kernels.moe.spec import Moe
from engine.kernels.reduce.spec import Softmax
from lowering.errors import ModelImportError
from lowering.evaluate import default_inputs, reference
from lowering.frontends.transformer import Architecture, ModelOptions, build_transformer
from lowering.graph import Graph
from tests.lowering.frontends.transformer.small import (
    ALIBI,
    DECODERS,
    DEEPSEEK,
    GEMMA,
    GPT2,
    LLAMA,
    MIXTRAL,
    Seeded,
)


def graph_of(sides: Architecture, **options: int | str) -> Graph:
    """A small graph with numbers."""
    load = ModelOptions(**options).resolved()  # type: ignore[arg-type]
    return build_transformer(sides.family, sides, load, Seeded())


@pytest.mark.parametrize("family", DECODERS)
def test_decode_after_prefill_gives_what_one_longer_prefill_gives(family: str) -> None:
    sides = DECODERS[family]
    ids = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    want = reference(graph_of(sides, batch=2, sequence=5), {"ids": ids})["logits"]
    decode = graph_of(sides, task="decode", batch=2, kv_length=5)
    whole = graph_of(sides, batch=2, sequence=4)
    whole = graph_of(sides, batch=2, sequence=4)
    cached = {name: _cached_value(name, whole) for name in decode.inputs if name != "ids"}
    before = reference(whole, {"ids": ids[:, :4]}, wanted=tuple(cached.values()))
    feeds = {name: before[value] for name, value in cached.items()}
    found = reference(decode, {"ids": ids[:, 4:], **feeds})
    np.testing.assert_allclose(found["logits"], want[:, 4:], rtol=1e-6, atol=1e-9)
    assert all(found[name].shape[-2] == 1 for name in decode.outputs[1:])


def _cached_value(name: str, graph: Graph) -> str:
    """The value of a prefill that an input of decode keeps."""
    stem = name.removesuffix("/cache")
    made = {node.name for node in graph.nodes}
    if stem.endswith("/latent"):
        return f"{stem.removesuffix('/latent')}/kv_norm"
    return next(each for each in (f"{stem}/rope", f"{stem}/by_head", stem) if each in made)


def test_a_token_does_not_see_later_ones() -> None:
    graph = graph_of(LLAMA, sequence=4)
    first = reference(graph, {"ids": np.array([[1, 2, 3, 4]])})["logits"]
    second = reference(graph, {"ids": np.array([[1, 2, 9, 9]])})["logits"]
    np.testing.assert_array_equal(first[:, :2], second[:, :2])
    assert not np.allclose(first[:, 2:], second[:, 2:])


def test_a_window_hides_old_tokens() -> None:
    sides = replace(LLAMA, window=2, layers=1)
    graph = graph_of(sides, sequence=4)
    first = reference(graph, {"ids": np.array([[1, 2, 3, 4]])})["logits"]
    second = reference(graph, {"ids": np.array([[9, 2, 3, 4]])})["logits"]
    np.testing.assert_array_equal(first[:, 2:], second[:, 2:])
    assert not np.allclose(first[:, 1], second[:, 1])


def test_a_window_of_some_layers_holds_in_those_alone() -> None:
    ids, other = np.array([[1, 2, 3, 4]]), np.array([[9, 2, 3, 4]])
    sides = replace(LLAMA, window=2, layers=3, windowed=(False, True, True))
    graph = graph_of(sides, sequence=4)
    windows = [node.op.window for node in graph.nodes if isinstance(node.op, Softmax)]
    assert windows == [0, 2, 2]
    wanted = ("layers/0/attn/out", "layers/1/attn/out")
    first = reference(graph, {"ids": ids}, wanted=wanted)
    second = reference(graph, {"ids": other}, wanted=wanted)
    assert not np.allclose(first[wanted[0]][:, 3], second[wanted[0]][:, 3])
    alone = graph_of(replace(sides, windowed=(True, True, True)), sequence=4)
    first = reference(alone, {"ids": ids}, wanted=wanted)
    second = reference(alone, {"ids": other}, wanted=wanted)
    np.testing.assert_array_equal(first[wanted[0]][:, 3], second[wanted[0]][:, 3])


@pytest.mark.parametrize("family", [LLAMA, ALIBI, DEEPSEEK], ids=lambda sides: sides.family)
@pytest.mark.parametrize("options", [{"sequence": 4}, {"task": "decode", "kv_length": 4}])
def test_soft_caps_bend_scores_before_the_mask_and_logits(
    family: Architecture, options: dict[str, int | str]
) -> None:
    graph = graph_of(replace(family, score_cap=0.25, logit_cap=0.5), **options)
    feeds = default_inputs(graph)
    names = ("scores", "scores/capped")
    wanted = [f"layers/1/attn/{name}" for name in names] + ["head/logits", "logits"]
    found = reference(graph, feeds, wanted=wanted)
    for before, after, cap in zip(wanted[::2], wanted[1::2], (0.25, 0.5), strict=True):
        want = cap * np.tanh(found[before] / cap).reshape(found[after].shape)
        np.testing.assert_allclose(found[after], want, rtol=1e-6)
        assert np.abs(found[before]).max() > cap >= np.abs(found[after]).max()
    readers = {node.op.inputs[0]: node for node in graph.nodes}
    follows = readers["layers/1/attn/scores/capped"]
    assert follows.name.endswith("/alibi" if family is ALIBI else "/softmax")


def test_a_sandwich_norms_what_each_part_adds() -> None:
    graph = graph_of(GEMMA, sequence=3)
    plain = build_transformer("t", replace(GEMMA, sandwich=False), ModelOptions().resolved())
    assert graph.parameters - plain.parameters == 2 * 2 * 8
    wanted = [f"layers/1/{name}" for name in (
        "attn/out", "attn_post_norm", "attn/sum", "mlp/down", "mlp_post_norm", "sum",
    )] + ["layers/0/sum"]  # fmt: skip
    at = reference(graph, {"ids": np.array([[1, 2, 3]])}, wanted=wanted)
    x = at["layers/0/sum"]
    for part, norm, total in (wanted[:3], wanted[3:6]):
        size = np.sqrt((at[part] ** 2).mean(-1, keepdims=True) + 1e-6)
        want = at[part] / size * (1 + Seeded().array(f"{norm}/weight", (8,)))
        np.testing.assert_allclose(at[norm], want, rtol=1e-6)
        x = x + want
        np.testing.assert_allclose(at[total], x, rtol=1e-6)


def test_the_first_layer_reads_scaled_embeddings() -> None:
    graph = graph_of(GEMMA, sequence=3)
    found = reference(graph, {"ids": np.array([[4, 0, 7]])}, wanted=["embed/scaled"])
    table = Seeded().array("embed/token/weight", (11, 8))
    np.testing.assert_allclose(found["embed/scaled"][0], 1.5 * table[[4, 0, 7]], rtol=1e-6)


@pytest.mark.parametrize(
    ("habits", "said"),
    [
        ({"parallel": True}, "here both are added together"),
        ({"post_norm": True}, "here the norms come after the additions"),
        ({"windowed": (True,)}, "of 1 layers it is said whether they have a window, and there are"),
    ],
)
def test_habits_that_do_not_go_together_are_named(habits: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelImportError, match=said):
        replace(GEMMA, **habits)


def test_equal_layers_have_equal_operations() -> None:
    graph = graph_of(replace(DEEPSEEK, layers=5), sequence=3)
    shapes = {name: value.shape for name, value in graph.values.items()}
    of_layer: dict[str, list[object]] = {}
    for node in graph.nodes:
        if node.name.startswith("layers/"):
            said = (type(node.op), node.kind, *(shapes[each] for each in node.op.inputs))
            of_layer.setdefault(node.name.split("/")[1], []).append(said)
    assert of_layer["1"] == of_layer["2"] == of_layer["4"]
    assert of_layer["0"] != of_layer["1"]


def test_experts_are_one_operation_a_layer() -> None:
    graph = graph_of(MIXTRAL, sequence=3)
    kinds = Counter(node.kind for node in graph.nodes if isinstance(node.op, Moe))
    assert kinds == {"MixtureOfExperts": 2}


def test_tied_weights_count_once() -> None:
    tied = build_transformer("t", GPT2, ModelOptions(sequence=2).resolved())
    alone = build_transformer("t", replace(GPT2, tied=False), ModelOptions(sequence=2).resolved())
    assert alone.parameters - tied.parameters == 11 * 8
    assert not tied.constants.keys() & tied.unknown
    assert "embed/token/weight" in tied.unknown


def test_a_tied_head_is_a_view_of_the_table() -> None:
    graph = graph_of(GPT2, sequence=2)
    table, head = graph.constants["embed/token/weight"], graph.constants["head/table"]
    assert np.shares_memory(table, head)
    assert head.shape == (8, 11)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"task": "guess"}, "task 'guess' is unknown; tasks: prefill, decode, training"),
        ({"batch": 0}, "batch is 0, must be at least 1"),
        ({"task": "decode"}, "decode needs the kv length"),
        ({"task": "decode", "kv_length": 1}, "above 1, got 1"),
        ({"task": "prefill", "kv_length": 8}, "kv length 8 is for decode"),
        ({"sequence": 7}, "a table of 6 positions and is asked for 7 tokens"),
    ],
)
def test_options_that_make_no_sense_are_named(options: dict[str, int | str], said: str) -> None:
    with pytest.raises(ModelImportError, match=said):
        graph_of(GPT2, **options)


def test_an_encoder_has_no_decode() -> None:
    with pytest.raises(ModelImportError, match="is an encoder: it has no decode"):
        graph_of(replace(ALIBI, causal=False, head=False), task="decode", kv_length=4)
