"""One door for models: from a file or folder of any kind that can be read to a Graph.

Chooses by the kind of file; each front end does the rest.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lowering.errors import ModelImportError
from lowering.frontends.transformer.options import ModelOptions
from lowering.graph import Graph

_OTHERS = {
    ".pt": "a PyTorch file", ".pth": "a PyTorch file", ".pt2": "a PyTorch file",
    ".bin": "a PyTorch weight file", ".gguf": "a GGUF file", ".h5": "a Keras file",
    ".tflite": "a TensorFlow Lite file", ".pb": "a TensorFlow file",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What the user says beside the file."""

    model: ModelOptions = field(default_factory=ModelOptions)
    """task and lengths, for files that leave them open"""
    dims: Mapping[str, int] = field(default_factory=dict)
    """sizes of symbolic dimensions, for ONNX"""
    values: bool = True
    """False: shapes are enough, large weights are not read"""
    fed: Mapping[str, np.ndarray] = field(default_factory=dict)
    """arrays fed to an ONNX file: those that say how to lay out become part of the program"""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """A graph, and sentences about its file that the user should see."""

    graph: Graph
    notes: tuple[str, ...] = ()


def load_with_notes(source: str | Path, options: LoadOptions | None = None) -> Loaded:
    """Return the graph of an .onnx file, a config.json, a Hugging Face folder or a Zoo YAML.

    A .safetensors file stands for the folder it lies in.

    Raises ModelImportError for a file or options that make no sense together, and
    UnsupportedOpError for ONNX operators that the mesh does not cover.
    """
    path, options = Path(source), options or LoadOptions()
    kind = path.suffix.lower()
    if kind in _OTHERS:
        raise ModelImportError(
            f"{source}: {_OTHERS[kind]} cannot be read; export the model to ONNX, or name a "
            "config.json"
        )
    _check_regular(path)
    try:
        return _reader(path, kind)(path, options)
    except ModelImportError as error:
        raise error.at(str(path)) from error


def _reader(path: Path, kind: str) -> Callable[[Path, LoadOptions], Loaded]:
    if path.is_dir() or kind == ".safetensors":
        return _folder
    if kind == ".json":
        return _config
    return _zoo if kind in (".yaml", ".yml") else _onnx


def _check_regular(path: Path) -> None:
    """Refuse pipes and devices: they may never end, and a model is read more than once."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise ModelImportError(f"cannot read {path}: {error.strerror or error}") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ModelImportError(
            f"{path} is a pipe or a device, neither a file nor a folder; write the model to a file"
        )


def _onnx(path: Path, options: LoadOptions) -> Loaded:
    from lowering.frontends.onnx import import_with_values, load_onnx
    from lowering.frontends.onnx.reading import read_model

    said = options.model.given()
    if said:
        raise ModelImportError(
            f"{path}: {', '.join(said)} can be chosen for a config.json, a Hugging Face folder or "
            "a Model Zoo YAML; an ONNX file has its shapes: fix a symbolic dimension with "
            "--dim NAME=N"
        )
    if options.fed:
        file = read_model(path)
        return Loaded(import_with_values(file, options.fed, options.dims, values=options.values))
    return Loaded(load_onnx(path, options.dims, values=options.values))


def _no_dims(path: Path, options: LoadOptions) -> None:
    if options.dims:
        raise ModelImportError(
            f"{path} has no symbolic dimensions, so {', '.join(options.dims)} cannot be fixed; "
            "use --batch, --sequence and --kv"
        )


def _config(path: Path, options: LoadOptions) -> Loaded:
    from lowering.frontends.huggingface import load_config, read_config

    _no_dims(path, options)
    said = options.model
    notes = read_config(path).leftovers.notes()
    graph = load_config(path, said.task or "prefill", said.batch, said.sequence, said.kv_length)
    return Loaded(graph, notes)


def _folder(path: Path, options: LoadOptions) -> Loaded:
    from lowering.frontends.huggingface import load_folder, read_config

    path = path if path.is_dir() else path.parent
    _no_dims(path, options)
    graph = load_folder(path, options.model, values=options.values)
    return Loaded(graph, read_config(path / "config.json").leftovers.notes())


def _zoo(path: Path, options: LoadOptions) -> Loaded:
    from lowering.frontends.modelzoo import load_zoo

    _no_dims(path, options)
    found = load_zoo(path, options.model)
    return Loaded(found.graph, found.notes)
