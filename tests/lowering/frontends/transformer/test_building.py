"""Whole transformers: decode continues prefill, attention sees what it may, layers are equal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from engine.kernels.moe.spec import Moe
from lowering.errors import ModelImportError
from lowering.evaluate import reference
from lowering.frontends.transformer import Architecture, ModelOptions, build_transformer
from lowering.graph import Graph
from tests.lowering.frontends.transformer.small import (
    ALIBI,
    DECODERS,
    DEEPSEEK,
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
