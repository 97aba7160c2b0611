"""Config files and safetensors folders written for the tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_NAMES = {"float32": "F32", "float16": "F16", "uint16": "BF16", "int64": "I64"}


def write_config(folder: Path, **fields: Any) -> Path:
    """Write config.json and return its path."""
    path = folder / "config.json"
    path.write_text(json.dumps(fields))
    return path


def header_of(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The header of tensors one after the other; uint16 stands for bfloat16."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, array in arrays.items():
        offsets = [end, end + array.nbytes]
        header[name] = {
            "dtype": _NAMES[array.dtype.name], "shape": list(array.shape), "data_offsets": offsets
        }  # fmt: skip
        end = offsets[1]
    return header


def write_tensors(
    path: Path, arrays: Mapping[str, np.ndarray], header: dict[str, Any] | None = None
) -> Path:
    """Write a safetensors file, with another header if given."""
    raw = json.dumps(header_of(arrays) if header is None else header).encode()
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    path.write_bytes(len(raw).to_bytes(8, "little") + raw + body)
    return path
