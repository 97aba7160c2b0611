"""Configs and weight files that lie, through the command line: one sentence, exit code 2."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.cli.main import main
from tests.lowering.frontends.huggingface.files import header_of, write_config, write_tensors
from tests.lowering.frontends.huggingface.test_folder import LLAMA, llama_tensors

TENSORS = llama_tensors()
UP = "model.layers.0.mlp.up_proj.weight"


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run the command line on what it must refuse and return the one sentence it says."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    said = [line for line in err.splitlines() if line and not line.startswith("note:")]
    assert len(said) == 1
    return said[0].removeprefix("waferscope: ")


def changed(**fields: Any) -> Callable[[Path], object]:
    """Write weights with a header that lies about one tensor."""

    def write(folder: Path) -> None:
        header = header_of(TENSORS)
        header[UP] = {**header[UP], **fields}
        write_tensors(folder / "model.safetensors", TENSORS, header)

    return write


def raw(content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / "model.safetensors").write_bytes(content)


def without(name: str) -> Callable[[Path], object]:
    kept = {each: array for each, array in TENSORS.items() if each != name}
    return lambda folder: write_tensors(folder / "model.safetensors", kept)


def index(place: Any, link: str = "") -> Callable[[Path], object]:
    """Write a shard, and an index that says where one tensor lies; `link` is what `l` leads to."""

    def write(folder: Path) -> None:
        write_tensors(folder / "a.safetensors", TENSORS)
        if link:
            (folder / "l").symlink_to(link)
        places = {**dict.fromkeys(TENSORS, "a.safetensors"), UP: place}
        text = json.dumps({"weight_map": places})
        (folder / "model.safetensors.index.json").write_text(text)

    return write


def sparse(folder: Path) -> None:
    """Write a header of a tensor of 256 GB that the disk does not hold."""
    said = {"x": {"dtype": "F32", "shape": [1 << 36], "data_offsets": [0, 1 << 38]}}
    header = json.dumps(said).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + (1 << 38))


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "model.safetensors")


@pytest.mark.parametrize("verb", ["run", "check"])
@pytest.mark.parametrize(
    ("write", "said"),
    [
        (raw(b""), "is not a safetensors file, or is cut short"),
        (raw(b"\xff" * 8 + b"{}"), "promise a header of 18,446,744,073,709,551,615 bytes"),
        (raw(struct.pack("<Q", 1 << 30) + b"{}" * 50), "promise a header of 1,073,741,824 bytes"),
        (raw(struct.pack("<Q", 200_000) + b"[" * 200_000), "its header is not JSON"),
        (changed(data_offsets=[0, 192]), "overlaps tensor"),
        (changed(data_offsets=[10**9, 10**9 + 192]), "leaves a hole after"),
        (changed(data_offsets=[-4, 188]), "two lists of whole numbers are needed"),
        (changed(shape=[2**62, 2**62]), "its offsets hold 192"),
        (changed(shape=[8, 6]), "has shape (8, 6); config.json asks for (6, 8)"),
        (changed(dtype="F8_E4M3"), "has dtype F8_E4M3; floats are needed"),
        (changed(dtype="I32"), "has dtype I32; floats are needed"),
        (changed(dtype="F64"), "needs 384 bytes, its offsets hold 192"),
        (without(UP), f"hold no tensor '{UP}'"),
        (sparse, "config.json and weights are of different models"),
        (pipe, "model.safetensors is no file"),
        (index("b.safetensors"), "b.safetensors is missing, in which tensor"),
        (index("../a.safetensors"), "outside the model's folder"),
        (index("/etc/passwd"), "outside the model's folder"),
        (index("a" * 5000), "is missing, in which tensor"),
        (index("l", link="/etc/passwd"), "is not a safetensors file, or is cut short"),
        (index("l", link="l"), "l is missing, in which tensor"),
        (index(3), "holds no 'weight_map' of tensor names and files"),
    ],
)
def test_weights_that_lie_are_refused_by_run_and_check(
    verb: str, write: Callable[[Path], object], said: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    write_config(tmp_path, **LLAMA)
    write(tmp_path)
    sentence = refused([verb, str(tmp_path), "--sequence", "4"], capsys)
    assert said in sentence
    assert str(tmp_path) in sentence
    assert len(sentence) < 600


@pytest.mark.parametrize(
    ("fields", "words", "said"),
    [
        ({"hidden_size": float("inf")}, [], "hidden_size is inf, must be a whole number"),
        ({"hidden_size": 10**12}, [], "at most 2,147,483,647"),
        ({"vocab_size": 2**31 - 1, "hidden_size": 2**20}, [], "over 2**40 elements"),
        ({"num_hidden_layers": 10**6}, [], "1,000,000 layers are more than the 1,024"),
        ({"num_hidden_layers": True}, [], "num_hidden_layers is True"),
        ({"rms_norm_eps": float("nan")}, [], "rms_norm_eps is nan, must be a number above 0"),
        ({"num_key_value_heads": 3}, [], "2 heads cannot share 3 key/value heads"),
        ({"n_embd": 16}, [], "contradict each other"),
        ({"rope_scaling": [1]}, [], "rope_scaling is [1], must be a mapping"),
        ({"model_type": "t5"}, [], "model_type 't5' cannot be read from its config alone"),
        ({}, ["--sequence", "1000000000000"], "scores, over 2**40"),
        ({}, ["--batch", "9" * 20], "scores, over 2**40"),
        ({}, ["--sequence", "8000000000"], "scores, over 2**40; shorten the sequence"),
        ({"head_dim": 2**30}, ["--sequence", "2"], "are over 2**27 numbers"),
        ({}, ["--task", "decode"], "decode needs the kv length"),
        ({}, ["--task", "train"], "task 'train' is unknown"),
        ({}, ["--dim", "N=3"], "no symbolic dimensions"),
    ],
)
def test_configs_that_make_no_sense_are_refused(
    fields: dict[str, Any], words: list[str], said: str, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = write_config(tmp_path, **{**LLAMA, **fields})
    assert said in refused(["check", str(path), *words], capsys)


def test_a_name_too_long_for_a_file_is_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file or demo" in refused(["check", "a" * 5000], capsys)


@pytest.mark.parametrize("option", ["--config", "--machine", "--inputs"])
def test_pipes_given_to_options_do_not_block(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ("m.yaml" if option != "--inputs" else "x.npz")
    os.mkfifo(path)
    sentence = refused(["run", "mlp", option, str(path)], capsys)
    assert str(path) in sentence


def test_weights_that_are_no_numbers_are_located(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_config(tmp_path, **LLAMA)
    bad = {**TENSORS, UP: np.full((6, 8), np.nan, np.float32)}
    write_tensors(tmp_path / "model.safetensors", bad)
    assert main(["run", str(tmp_path), "--sequence", "4", "--machine", "mesh-16x16"]) == 0
    assert "nan first in 'layers/0/mlp/up'" in capsys.readouterr().out
