"""Reads safetensors files by memory map: nothing is copied before it is used.

A file is an 8-byte little-endian length, that many bytes of JSON ({name: {dtype, shape,
data_offsets}}), then the tensors' bytes. Every number in it is checked before it is believed.
Knows no models.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from engine.kernels.pointwise.functions import Array
from lowering.errors import ModelImportError

MAX_HEADER_BYTES = 100 << 20
"""the format's own limit"""
INDEX = "model.safetensors.index.json"
WHOLE = "model.safetensors"
MAX_INDEX_BYTES = 64 << 20
"""an index above this is none: that of 100,000 tensors takes some 10 MB"""
_DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
    "I16": "<i2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One tensor of a file, as its header says."""

    name: str
    path: Path
    dtype: str
    """safetensors dtype name, such as BF16"""
    shape: tuple[int, ...]
    start: int
    """byte of the file at which it starts"""
    size: int
    """bytes"""

    def array(self) -> Array:
        """Return the tensor; floats of 32 bits are the mapped file itself, read-only."""
        if self.dtype not in _DTYPES:
            raise ModelImportError(
                f"{self.path}: tensor '{self.name}' has dtype {self.dtype}; "
                f"{', '.join(_DTYPES)} can be read"
            )
        mapped = np.memmap(
            self.path, _DTYPES[self.dtype], "r", offset=self.start, shape=(prod(self.shape),)
        )
        found = np.asarray(mapped).reshape(self.shape)
        if self.dtype == "BF16":
            return (found.astype(np.uint32) << 16).view(np.float32)
        return found


def read_header(path: Path) -> dict[str, TensorEntry]:
    """Return the tensors of one file by name.

    Raises ModelImportError: no such file, a header that is cut short, lies about lengths, or
    describes tensors that overlap, leave holes or lie outside the file.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or not 2 <= length <= min(MAX_HEADER_BYTES, size - 8):
                raise ModelImportError(
                    f"{path} ({size:,} bytes) is not a safetensors file, or is cut short: its "
                    f"first 8 bytes promise a header of {length:,} bytes"
                )
            header = _parsed(path, file.read(length))
    except OSError as error:
        raise ModelImportError(f"cannot read {path}: {error.strerror or error}") from error
    entries = [_entry(path, name, said, 8 + length) for name, said in header.items()]
    _check_layout(path, entries, 8 + length, size)
    return {entry.name: entry for entry in entries}


def _parsed(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ModelImportError(f"{path}: its header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise ModelImportError(f"{path}: its header is no JSON object of tensors")
    header.pop("__metadata__", None)
    return header


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, said in pairs:
        if name in found:
            raise ValueError(f"'{name}' stands in it twice")
        found[name] = said
    return found


def _entry(path: Path, name: str, said: Any, base: int) -> TensorEntry:
    where = f"{path}: tensor '{name}'"
    if not isinstance(said, dict):
        raise ModelImportError(f"{where} has no dtype, shape and data_offsets")
    dtype: Any = said.get("dtype")
    shape: Any = said.get("shape")
    offsets: Any = said.get("data_offsets")
    if not isinstance(dtype, str) or not _counts(shape) or not _counts(offsets, 2):
        raise ModelImportError(
            f"{where} has dtype {dtype!r}, shape {shape!r} and data_offsets {offsets!r}; a name "
            "and two lists of whole numbers are needed"
        )
    start, end = offsets
    if end < start:
        raise ModelImportError(f"{where} ends at byte {end:,}, before it starts at {start:,}")
    need = prod(shape) * np.dtype(_DTYPES[dtype]).itemsize if dtype in _DTYPES else end - start
    if need != end - start:
        raise ModelImportError(
            f"{where} of dtype {dtype} and shape {tuple(shape)} needs {need:,} bytes, its offsets "
            f"hold {end - start:,}"
        )
    return TensorEntry(name, path, dtype, tuple(shape), base + start, end - start)


def _counts(found: Any, length: int | None = None) -> bool:
    return (
        isinstance(found, list)
        and (length is None or len(found) == length)
        and all(
            isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in found
        )
    )


def _check_layout(path: Path, entries: list[TensorEntry], base: int, size: int) -> None:
    """Check that the tensors fill the rest of the file, one after the other."""
    end, before = base, "the header"
    for entry in sorted(entries, key=lambda each: (each.start, each.size)):
        if entry.start != end:
            how = "overlaps" if entry.start < end else "leaves a hole after"
            raise ModelImportError(
                f"{path}: tensor '{entry.name}' starts at byte {entry.start:,} and {how} "
                f"{before}, which ends at {end:,}: the header is wrong"
            )
        end, before = entry.start + entry.size, f"tensor '{entry.name}'"
    if end != size:
        raise ModelImportError(
            f"{path} has {size:,} bytes and its tensors end at byte {end:,}: the file is cut "
            "short or the header is wrong"
        )


def read_folder(folder: Path) -> dict[str, TensorEntry] | None:
    """Return all tensors of a model's folder, its shards together; None where it has none.

    Raises ModelImportError: a shard is missing or damaged, or does not hold what the index says.
    """
    index, whole = folder / INDEX, folder / WHOLE
    if not _is_there(index):
        return read_header(whole) if _is_there(whole) else None
    places = _index(index)
    found: dict[str, TensorEntry] = {}
    headers: dict[str, Mapping[str, TensorEntry]] = {}
    for name, shard in places.items():
        if shard not in headers:
            headers[shard] = read_header(_shard(folder, shard, name))
        if name not in headers[shard]:
            raise ModelImportError(f"{folder / shard} holds no tensor '{name}'; {index} says so")
        found[name] = headers[shard][name]
    return found


def _is_there(path: Path) -> bool:
    """Return whether there is such a file.

    Raises ModelImportError for something else of this name, such as a link to nothing.
    """
    if path.is_file():
        return True
    if os.path.lexists(path):
        what = "a link to a file that is missing" if path.is_symlink() else "no file"
        raise ModelImportError(f"{path} is {what}; download the model's weights, or remove it")
    return False


def _index(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_INDEX_BYTES + 1)
        if len(content) > MAX_INDEX_BYTES:
            raise ModelImportError(f"{path} is larger than {MAX_INDEX_BYTES:,} bytes: no index")
        places = json.loads(content)["weight_map"]
        if all(isinstance(shard, str) for shard in places.values()):
            return dict(places)
    except OSError as error:
        raise ModelImportError(f"cannot read {path}: {error.strerror or error}") from error
    except ModelImportError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise ModelImportError(f"{path} holds no 'weight_map' of tensor names and files")


def _shard(folder: Path, shard: str, tensor: str) -> Path:
    path = folder / shard
    if Path(shard).name != shard or shard in ("", ".."):
        raise ModelImportError(
            f"{folder / INDEX}: tensor '{tensor}' lies at '{shard}', outside the model's folder"
        )
    try:
        found = path.is_file()
    except OSError:  # a name that no file can have
        found = False
    if not found:
        raise ModelImportError(
            f"the shard {folder / shard[:80]} is missing, in which tensor '{tensor}' lies; "
            "download all files of the model"
        )
    return path
