"""Headers are believed only after they are checked; bytes are mapped, not copied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lowering.errors import ModelImportError
from lowering.frontends import safetensors
from lowering.frontends.safetensors import read_folder, read_header
from tests.lowering.frontends.huggingface.files import header_of, write_tensors

ARRAYS: dict[str, np.ndarray] = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array([1.5, -2.0], np.float16),
    "c": np.array([0x3FC0, 0xC000], np.uint16),
}


def test_tensors_come_back_as_written(tmp_path: Path) -> None:
    found = read_header(write_tensors(tmp_path / "m.safetensors", ARRAYS))
    np.testing.assert_array_equal(found["a"].array(), ARRAYS["a"])
    np.testing.assert_array_equal(found["b"].array(), [1.5, -2.0])
    np.testing.assert_array_equal(found["c"].array(), np.array([1.5, -2.0], np.float32))
    assert found["c"].dtype == "BF16"


def test_float32_is_the_file_itself(tmp_path: Path) -> None:
    array = read_header(write_tensors(tmp_path / "m.safetensors", ARRAYS))["a"].array()
    assert not array.flags.owndata
    assert not array.flags.writeable


def changed(name: str, **fields: Any) -> dict[str, Any]:
    """The right header with fields of one tensor replaced."""
    header = header_of(ARRAYS)
    header[name] = {**header[name], **fields}
    return header


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (changed("a", shape=[2, 4]), "shape \\(2, 4\\) needs 32 bytes, its offsets hold 24"),
        (changed("a", dtype="F64"), "needs 48 bytes"),
        (changed("b", data_offsets=[20, 24]), "'b' starts at byte .* overlaps tensor 'a'"),
        (changed("b", data_offsets=[26, 30]), "leaves a hole after tensor 'a'"),
        (changed("c", data_offsets=[28, 1028], shape=[500]), "the file is cut short"),
        (changed("c", data_offsets=[32, 28]), "before it starts"),
        (changed("a", shape=[-2, -3]), "two lists of whole numbers"),
        (changed("a", shape="23"), "two lists of whole numbers"),
        (changed("a", data_offsets=[0, True]), "two lists of whole numbers"),
        ({"a": 5}, "no dtype, shape and data_offsets"),
        ({}, "its tensors end at byte"),
    ],
)
def test_lying_headers_are_refused(header: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = write_tensors(tmp_path / "m.safetensors", ARRAYS, header)
    with pytest.raises(ModelImportError, match=said):
        read_header(path)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "promise a header of 0 bytes"),
        (b"\xff" * 8 + b"{}", "cut short"),
        ((10).to_bytes(8, "little") + b"{}", "promise a header of 10 bytes"),
        ((2).to_bytes(8, "little") + b"[]", "no JSON object"),
        ((3).to_bytes(8, "little") + b"{,}", "not JSON"),
    ],
)
def test_what_is_no_such_file_is_said(raw: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(raw)
    with pytest.raises(ModelImportError, match=said):
        read_header(path)


def index(folder: Path, places: dict[str, str]) -> None:
    """Write an index of shards."""
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": places}))


def test_shards_are_put_together(tmp_path: Path) -> None:
    write_tensors(tmp_path / "1.safetensors", {"a": ARRAYS["a"]})
    write_tensors(tmp_path / "2.safetensors", {"b": ARRAYS["b"]})
    index(tmp_path, {"a": "1.safetensors", "b": "2.safetensors"})
    found = read_folder(tmp_path)
    assert found is not None
    assert found.keys() == {"a", "b"}


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("2.safetensors", "the shard .*2.safetensors is missing, in which tensor 'b' lies"),
        ("../b.safetensors", "outside the model's folder"),
        ("..", "outside the model's folder"),
        ("", "outside the model's folder"),
        ("a" * 5000, "the shard .*aaa is missing"),
        ("a\0b", "the shard .* is missing"),
        ("1.safetensors", "holds no tensor 'b'"),
    ],
)
def test_faults_of_the_index_are_named(place: str, said: str, tmp_path: Path) -> None:
    write_tensors(tmp_path / "1.safetensors", {"a": ARRAYS["a"]})
    index(tmp_path, {"a": "1.safetensors", "b": place})
    with pytest.raises(ModelImportError, match=said):
        read_folder(tmp_path)


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = write_tensors(tmp_path / "m.safetensors", ARRAYS)
    raw = path.read_bytes()
    said = json.dumps(header_of(ARRAYS))
    twice = f'{said[:-1]}, "a": {json.dumps(header_of(ARRAYS)["a"])}}}'
    body = raw[8 + int.from_bytes(raw[:8], "little") :]
    path.write_bytes(len(twice).to_bytes(8, "little") + twice.encode() + body)
    with pytest.raises(ModelImportError, match="'a' stands in it twice"):
        read_header(path)


@pytest.mark.parametrize("name", ["model.safetensors", "model.safetensors.index.json"])
def test_weights_that_cannot_be_had_are_no_model_without_weights(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.symlink_to(tmp_path / "blobs" / "none")
    with pytest.raises(ModelImportError, match=f"{name} is a link to a file that is missing"):
        read_folder(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(ModelImportError, match=f"{name} is no file"):
        read_folder(tmp_path)


def test_an_endless_index_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safetensors, "MAX_INDEX_BYTES", 100)
    index(tmp_path, {"a" * 100: "1.safetensors"})
    with pytest.raises(ModelImportError, match="larger than 100 bytes"):
        read_folder(tmp_path)


def test_a_folder_without_weights_has_none(tmp_path: Path) -> None:
    assert read_folder(tmp_path) is None
    index(tmp_path, {})
    (tmp_path / "model.safetensors.index.json").write_text("[]")
    with pytest.raises(ModelImportError, match="no 'weight_map'"):
        read_folder(tmp_path)
