"""One door: each kind of file goes to its front end, and options that do not suit it are named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from app.demo_models import demo_path

from lowering.errors import ModelImportError
from lowering.frontends.load import LoadOptions, load_with_notes
from lowering.frontends.transformer import ModelOptions
from tests.lowering.frontends.huggingface.files import write_config, write_tensors
from tests.lowering.frontends.huggingface.test_folder import LLAMA, llama_tensors

ZOO = """
model: {name: gpt2, hidden_size: 8, num_hidden_layers: 1, num_heads: 2, filter_size: 16,
        vocab_size: 11, max_position_embeddings: 12}
"""


def test_each_kind_of_file_has_its_reader(tmp_path: Path) -> None:
    config = write_config(tmp_path, **LLAMA, use_cache=True)
    zoo = tmp_path / "params.yaml"
    zoo.write_text(ZOO)
    weights = write_tensors(tmp_path / "model.safetensors", llama_tensors())
    shapes = load_with_notes(config)
    assert shapes.graph.unknown
    assert any("use_cache" in note for note in shapes.notes)
    assert not load_with_notes(tmp_path).graph.unknown
    assert not load_with_notes(weights).graph.unknown
    assert load_with_notes(tmp_path, LoadOptions(values=False)).graph.unknown
    assert load_with_notes(zoo).graph.outputs[0] == "loss"
    assert load_with_notes(demo_path("mlp")).graph.constants


def test_options_reach_the_reader(tmp_path: Path) -> None:
    config = write_config(tmp_path, **LLAMA)
    options = LoadOptions(ModelOptions("decode", 2, 1, 9))
    assert load_with_notes(config, options).graph.values["layers/0/attn/k/cache"].shape == (
        2,
        1,
        8,
        4,
    )


def test_options_that_do_not_suit_the_file_are_named(tmp_path: Path) -> None:
    said = LoadOptions(ModelOptions(task="decode", kv_length=4))
    with pytest.raises(ModelImportError, match=r"task, kv can be chosen for a config\.json"):
        load_with_notes(demo_path("mlp"), said)
    config = write_config(tmp_path, **LLAMA)
    with pytest.raises(ModelImportError, match="no symbolic dimensions, so tokens cannot be fixed"):
        load_with_notes(config, LoadOptions(dims={"tokens": 4}))


@pytest.mark.parametrize("name", ["m.onnx", "config.json", "params.yaml", "model.safetensors"])
def test_a_pipe_is_refused_before_it_blocks(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    with pytest.raises(ModelImportError, match=f"{name} is a pipe or a device"):
        load_with_notes(path)


def test_every_error_names_the_file(tmp_path: Path) -> None:
    config = write_config(tmp_path, **{**LLAMA, "num_key_value_heads": 3})
    with pytest.raises(ModelImportError, match="2 heads cannot share 3") as caught:
        load_with_notes(config)
    assert str(caught.value).startswith(f"{config}: llama: ")
    config = write_config(tmp_path, **LLAMA)
    with pytest.raises(ModelImportError, match="decode needs the kv length") as caught:
        load_with_notes(config, LoadOptions(ModelOptions("decode")))
    assert str(caught.value).startswith(f"{config}: ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("m.pt", "a PyTorch file cannot be read"),
        ("m.gguf", "a GGUF file cannot be read"),
        ("none.json", "cannot read .*none.json: No such file"),
        ("none.yaml", "cannot read .*none.yaml"),
    ],
)
def test_what_cannot_be_read_is_said(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match=said):
        load_with_notes(tmp_path / name)
