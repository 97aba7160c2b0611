"""Bytes to a checked ONNX protobuf and its arrays, every size bounded before memory is taken.

Knows files and tensors; nothing of operators.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import TensorProto, helper, numpy_helper

from engine.kernels.pointwise.functions import Array
from lowering.errors import ModelImportError
from lowering.frontends.builder import MAX_ELEMENTS

MAX_FILE_BYTES = 2**31 - 1
"""protobuf's own limit for one message"""
_WIDENED = {TensorProto.BFLOAT16: np.dtype(np.float32)}
"""types numpy lacks that are read into a wider one without loss"""


@dataclass(frozen=True, slots=True, eq=False)
class ModelFile:
    """A parsed model and where it lies."""

    path: Path
    model: onnx.ModelProto
    digest: str
    """sha256 of the file, hexadecimal"""


def read_model(path: Path) -> ModelFile:
    """Read and parse one .onnx file."""
    if path.is_dir():
        raise ModelImportError(f"{path} is a folder; give the .onnx file inside it")
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ModelImportError(
                f"{path} has {size:,} bytes, over protobuf's limit of {MAX_FILE_BYTES:,}; "
                "store the weights as external data"
            )
        content = path.read_bytes()
    except OSError as error:
        raise ModelImportError(f"cannot read {path}: {error.strerror or error}") from error
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise ModelImportError(
            f"{path} ({len(content):,} bytes) is not an ONNX file, or it is cut short or damaged"
        ) from error
    if not model.graph.node and not model.graph.output:
        raise ModelImportError(f"{path} ({len(content):,} bytes) holds no ONNX graph")
    return ModelFile(path, model, hashlib.sha256(content).hexdigest())


def numpy_dtype(elem_type: int, what: str) -> np.dtype[np.generic]:
    """Return the dtype a tensor of `elem_type` is held in; `what` names it in the error."""
    if elem_type in _WIDENED:
        return _WIDENED[elem_type]
    names = {code: name for name, code in TensorProto.DataType.items()}
    dtype: np.dtype[np.generic]
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(elem_type))
    except (KeyError, TypeError, ValueError):
        dtype = np.dtype(object)
    if dtype.kind not in "fiub" or dtype.name not in np.sctypeDict:
        name = names.get(elem_type, f"number {elem_type}")
        raise ModelImportError(
            f"{what} has element type {name}; the mesh takes floats of 16 to 64 bits, "
            "bfloat16, integers and bool"
        )
    return dtype


def tensor_shape(tensor: TensorProto) -> tuple[int, ...]:
    """Return the declared shape, once it is believable."""
    shape = tuple(tensor.dims)
    if any(side < 0 for side in shape) or prod(shape) > MAX_ELEMENTS:
        raise ModelImportError(
            f"tensor '{tensor.name}' declares the shape {shape}; sides must be at least 0 and "
            "the elements at most 2**40: the file is damaged"
        )
    return shape


def is_external(tensor: TensorProto) -> bool:
    """Return whether the tensor's bytes lie in another file."""
    return bool(tensor.data_location == TensorProto.EXTERNAL)


def read_tensor(tensor: TensorProto, folder: Path) -> Array:
    """Return the tensor's array, from the model or from external data inside `folder`."""
    shape = tensor_shape(tensor)
    dtype = numpy_dtype(tensor.data_type, f"tensor '{tensor.name}'")
    if is_external(tensor):
        raw = _external_bytes(tensor, folder, prod(shape) * _stored_bytes(tensor))
        inner = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        inner.raw_data = raw
        tensor = inner
    elif tensor.HasField("raw_data"):
        need = prod(shape) * _stored_bytes(tensor)
        if len(tensor.raw_data) != need:
            raise ModelImportError(
                f"tensor '{tensor.name}' of shape {shape} needs {need:,} bytes and has "
                f"{len(tensor.raw_data):,}: the file is damaged"
            )
    try:
        return np.asarray(numpy_helper.to_array(tensor)).astype(dtype, copy=False).reshape(shape)
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelImportError(
            f"tensor '{tensor.name}' of shape {shape} cannot be read: {error}"
        ) from error


def _stored_bytes(tensor: TensorProto) -> int:
    return int(helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize)


def _external_bytes(tensor: TensorProto, folder: Path, need: int) -> bytes:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    where = f"external data of tensor '{tensor.name}'"
    location = entries.get("location", "")
    path = (folder / location).resolve()
    if not location or not path.is_relative_to(folder.resolve()) or path == folder.resolve():
        raise ModelImportError(
            f"{where} lies at '{location}', outside the model's folder {folder}; "
            "move the file beside the model"
        )
    try:
        offset = int(entries.get("offset", "0"))
        length = int(entries.get("length", str(need)))
    except ValueError as error:
        raise ModelImportError(f"{where} has an offset or length that is no number") from error
    if not path.is_file():
        raise ModelImportError(
            f"{where}: the file {path} is missing; put it beside the model, or import shapes only"
        )
    size = path.stat().st_size
    if length != need or offset < 0 or offset + need > size:
        raise ModelImportError(
            f"{where} needs {need:,} bytes; bytes {offset:,} to {offset + length:,} are given "
            f"and {path} has {size:,}"
        )
    with path.open("rb") as file:
        file.seek(offset)
        return bytes(file.read(need))
