"""Reads a config.json: which model it is, its sides, and what of it has no effect here.

Defaults are those of Hugging Face's own configuration classes (transformers 4 and 5).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowering.errors import ModelImportError
from lowering.frontends.fields import Fields, Leftovers
from lowering.frontends.huggingface import gemma, rotary, tables
from lowering.frontends.huggingface.common import UNDERSTOOD, UNDERSTOOD_OF_ROPE
from lowering.frontends.transformer import Architecture

MAX_BYTES = 1 << 20
"""a config.json above this is none"""
MAX_DIGITS = 400
"""digits of a whole number; Python itself refuses some thousands"""

_READERS: dict[str, Callable[[Fields], Architecture]] = {
    "gpt2": tables.gpt2,
    "llama": rotary.llama,
    "mixtral": rotary.mixtral,
    "gemma2": gemma.gemma2,
    "deepseek_v3": rotary.deepseek_v3,
    "bert": tables.bert,
}
MODEL_TYPES = tuple(_READERS)
"""values of model_type that can be read"""


@dataclass(frozen=True, slots=True)
class ReadConfig:
    """A config.json, understood."""

    architecture: Architecture
    leftovers: Leftovers
    digest: str
    """sha256 of the file"""


def read_config(path: Path) -> ReadConfig:
    """Read a config.json.

    Raises ModelImportError: not JSON, another kind of model, a field that is missing, wrong,
    contradicts another or is misspelt.
    """
    content = _content(path)
    fields = Fields(_parsed(path, content), str(path))
    if not fields.has("model_type"):
        raise ModelImportError(
            f"{path}: field 'model_type' is missing, so this is not known to be a model's "
            f"config.json; it may be one of {', '.join(MODEL_TYPES)}"
        )
    kind = fields.text("model_type")
    if kind not in _READERS:
        raise ModelImportError(
            f"{path}: model_type '{kind}' cannot be read from its config alone "
            f"({', '.join(MODEL_TYPES)} can); export the model to ONNX"
        )
    architecture = _READERS[kind](fields)
    leftovers = fields.leftovers(UNDERSTOOD, UNDERSTOOD_OF_ROPE)
    return ReadConfig(architecture, leftovers, hashlib.sha256(content).hexdigest())


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ModelImportError(f"cannot read {path}: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise ModelImportError(f"{path} is larger than {MAX_BYTES:,} bytes; that is no config.json")
    return content


def _parsed(path: Path, content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content, object_pairs_hook=_once, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise ModelImportError(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ModelImportError(f"{path} holds no JSON object of fields")
    return found


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found and found[name] != value:
            raise ValueError(f"field '{name}' stands twice with different values")
        found[name] = value
    return found
