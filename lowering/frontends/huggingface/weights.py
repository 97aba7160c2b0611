"""Which tensors of a Hugging Face folder hold a weight, and how they are turned.

Hugging Face keeps a linear layer as (results, features), GPT-2 as (features, results) with
queries, keys and values side by side, and the experts of Mixtral one by one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.kernels.pointwise.functions import Array
from lowering.errors import ModelImportError
from lowering.frontends.safetensors import TensorEntry, read_folder
from lowering.frontends.transformer import Architecture

_LAYER = re.compile(r"layers/(\d+)/(.*)")
_EXPERT = "{e}"
_FLOATS = ("F32", "F16", "BF16", "F64")
"""dtypes of weights"""


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of a model type's tensors; `{p}` is a weight's last word, weight or bias."""

    prefixes: tuple[str, ...]
    """what may stand before all names, tried in order"""
    layer: str
    """beginning of a layer's tensors, with {n} for its number"""
    outer: Mapping[str, str]
    """path without its last word -> name, outside the layers"""
    inner: Mapping[str, str]
    """the same inside a layer; a name ending in :0, :1 or :2 is that third of the tensor"""
    turned: bool = True
    """linear weights are stored as (results, features)"""


_LLAMA = {
    "attn_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm",
    "attn/q": "self_attn.q_proj", "attn/k": "self_attn.k_proj", "attn/v": "self_attn.v_proj",
    "attn/out": "self_attn.o_proj",
    "mlp/gate": "mlp.gate_proj", "mlp/up": "mlp.up_proj", "mlp/down": "mlp.down_proj",
}  # fmt: skip
_MIXTRAL = _LLAMA | {
    "mlp/experts/router": "block_sparse_moe.gate",
    "mlp/experts/gate": "block_sparse_moe.experts.{e}.w1",
    "mlp/experts/up": "block_sparse_moe.experts.{e}.w3",
    "mlp/experts/down": "block_sparse_moe.experts.{e}.w2",
}
_GEMMA2 = _LLAMA | {
    "attn_post_norm": "post_attention_layernorm", "mlp_norm": "pre_feedforward_layernorm",
    "mlp_post_norm": "post_feedforward_layernorm",
}  # fmt: skip
_LLAMA_OUTER = {"embed/token": "embed_tokens", "final_norm": "norm", "head": "/lm_head"}
_NAMES = {
    "llama": _Names(("model.", ""), "layers.{n}.", _LLAMA_OUTER, _LLAMA),
    "mixtral": _Names(("model.", ""), "layers.{n}.", _LLAMA_OUTER, _MIXTRAL),
    "gemma2": _Names(("model.", ""), "layers.{n}.", _LLAMA_OUTER, _GEMMA2),
    "gpt2": _Names(
        ("", "transformer."),
        "h.{n}.",
        {"embed/token": "wte", "embed/position": "wpe", "final_norm": "ln_f", "head": "/lm_head"},
        {
            "attn_norm": "ln_1", "mlp_norm": "ln_2", "attn/q": "attn.c_attn:0",
            "attn/k": "attn.c_attn:1", "attn/v": "attn.c_attn:2", "attn/out": "attn.c_proj",
            "mlp/up": "mlp.c_fc", "mlp/down": "mlp.c_proj",
        },
        turned=False,
    ),
    "bert": _Names(
        ("", "bert."),
        "encoder.layer.{n}.",
        {
            "embed/token": "embeddings.word_embeddings",
            "embed/position": "embeddings.position_embeddings",
            "embed/type": "embeddings.token_type_embeddings",
            "embed/norm": "embeddings.LayerNorm", "pooler": "pooler.dense",
        },
        {
            "attn_norm": "attention.output.LayerNorm", "mlp_norm": "output.LayerNorm",
            "attn/q": "attention.self.query", "attn/k": "attention.self.key",
            "attn/v": "attention.self.value", "attn/out": "attention.output.dense",
            "mlp/up": "intermediate.dense", "mlp/down": "output.dense",
        },
    ),
}  # fmt: skip
WITH_WEIGHTS = tuple(_NAMES)
"""model types whose weights can be read"""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A tensor of a file, and how it becomes a weight."""

    entry: TensorEntry
    turned: bool
    third: int | None
    """the weight is this third of its last axis, None: all of it"""

    def array(self) -> Array:
        """Return the weight as float32."""
        array = self.entry.array()
        if self.third is not None:
            array = np.split(array, 3, axis=-1)[self.third]
        array = array.astype(np.float32, copy=False)
        return array.T if self.turned else array


class FolderWeights:
    """Weights by path, from the tensors of a folder."""

    def __init__(self, folder: Path, entries: Mapping[str, TensorEntry], family: str) -> None:
        self._folder = folder
        self._entries = entries
        self._names = _NAMES[family]
        self._prefix = self._find_prefix()

    def _find_prefix(self) -> str:
        first = f"{self._names.outer['embed/token']}.weight"
        for prefix in self._names.prefixes:
            if f"{prefix}{first}" in self._entries:
                return prefix
        raise ModelImportError(
            f"the weights in {self._folder} hold no tensor '{first}', with or without "
            f"{' or '.join(repr(p) for p in self._names.prefixes if p)} before it: "
            "config.json and weights are of different models"
        )

    def array(self, path: str, shape: tuple[int, ...]) -> Array | None:
        """Return the weight at `path` as float32 of `shape`.

        Raises ModelImportError where the tensor is missing or has another shape or type.
        """
        parts = [stored.array() for stored in self.stored(path, shape)]
        return np.stack(parts) if parts[0].ndim < len(shape) else parts[0]

    def stored(self, path: str, shape: tuple[int, ...]) -> list[_Stored]:
        """Return the tensors that hold the weight at `path`, none of them read.

        Raises ModelImportError where one is missing or has another shape or type.
        """
        stem, _, last = path.rpartition("/")
        match = _LAYER.fullmatch(stem)
        if match:
            name = self._names.layer.format(n=match[1]) + self._names.inner[match[2]]
        else:
            name = self._names.outer[stem]
        if _EXPERT in name:
            names = [f"{name.replace(_EXPERT, str(i))}.{last}" for i in range(shape[0])]
            return [self._one(each, shape[1:], path) for each in names]
        name, _, third = name.partition(":")
        return [self._one(f"{name}.{last}", shape, path, int(third) if third else None)]

    def _one(
        self, name: str, shape: tuple[int, ...], path: str, third: int | None = None
    ) -> _Stored:
        entry = self._entry(name, path)
        lookup = path.startswith("embed/")
        turned = self._names.turned or name.startswith("/lm_head")
        turned = turned and len(shape) == 2 and not lookup
        stored = shape[::-1] if turned else shape
        if third is not None:
            stored = (*shape[:-1], 3 * shape[-1])
        if entry.shape != stored:
            raise ModelImportError(
                f"{entry.path}: tensor '{entry.name}' has shape {entry.shape}; config.json asks "
                f"for {stored}"
            )
        if entry.dtype not in _FLOATS:
            raise ModelImportError(
                f"{entry.path}: tensor '{entry.name}' has dtype {entry.dtype}; "
                f"floats are needed: {', '.join(_FLOATS)}"
            )
        return _Stored(entry, turned, third)

    def _entry(self, name: str, path: str) -> TensorEntry:
        whole = name[1:] if name.startswith("/") else f"{self._prefix}{name}"
        if whole not in self._entries:
            raise ModelImportError(
                f"the weights in {self._folder} hold no tensor '{whole}' (for {path})"
            )
        return self._entries[whole]


class CheckedShapes:
    """Weights of known shape without numbers, each held against the headers of a folder's files."""

    def __init__(self, weights: FolderWeights) -> None:
        self._weights = weights

    def array(self, path: str, shape: tuple[int, ...]) -> Array | None:
        """Return None, once the tensor is known to be there.

        Raises ModelImportError where the tensor is missing or has another shape or type.
        """
        self._weights.stored(path, shape)
        return None


def checked_shapes(folder: Path, sides: Architecture) -> CheckedShapes | None:
    """Return what holds a model against the headers beside it, None where there are none to read.

    Raises ModelImportError for damaged files.
    """
    entries = read_folder(folder)
    if entries is None or sides.family not in _NAMES:
        return None
    return CheckedShapes(FolderWeights(folder, entries, sides.family))


def folder_weights(folder: Path, sides: Architecture) -> FolderWeights | None:
    """Return the weights beside a config.json, None where there are none.

    Raises ModelImportError for damaged files, and for a model type whose weights are not read.
    """
    entries = read_folder(folder)
    if entries is None:
        return None
    if sides.family not in _NAMES:
        raise ModelImportError(
            f"weights of '{sides.family}' cannot be read ({', '.join(WITH_WEIGHTS)} can); "
            f"open {folder / 'config.json'} to time the model without numbers"
        )
    return FolderWeights(folder, entries, sides.family)
