"""From a config.json, or a folder with weights beside it, to a Graph."""

from __future__ import annotations

from pathlib import Path

from lowering.errors import ModelImportError
from lowering.frontends.huggingface.config import read_config
from lowering.frontends.huggingface.weights import checked_shapes, folder_weights
from lowering.frontends.transformer import Architecture, ModelOptions, build_transformer
from lowering.frontends.transformer.options import DEFAULT_SEQUENCE, Workload
from lowering.frontends.transformer.rope import check_numbers
from lowering.graph import Graph

CONFIG = "config.json"


def load_config(
    path: str | Path,
    task: str = "prefill",
    batch: int | None = None,
    sequence: int | None = None,
    kv_length: int | None = None,
) -> Graph:
    """Return the graph of a model from its config.json; weights have shapes only.

    `sequence` counts the new tokens (128 where nothing is said, 1 in decode), `kv_length` in
    decode the tokens attended to with them. `parameters` counts tied weights once.

    Raises ModelImportError for a config or options that make no sense.
    """
    path = Path(path)
    found = read_config(path)
    load = _workload(ModelOptions(task, batch, sequence, kv_length), found.architecture)
    name = path.stem if path.name != CONFIG else path.resolve().parent.name
    return build_transformer(name, found.architecture, load, source_hash=found.digest)


def load_folder(
    path: str | Path, options: ModelOptions | None = None, *, values: bool = True
) -> Graph:
    """Return the graph of a Hugging Face folder with its weights, mapped, not read.

    Without `values`, and where a folder has a config.json alone, weights have shapes only; the
    headers of the files that are there are checked all the same.

    Raises ModelImportError for a folder, config, weight file or options that make no sense.
    """
    path = Path(path)
    config = path / CONFIG
    if not config.is_file():
        raise ModelImportError(f"the folder {path} holds no {CONFIG}; name a model file instead")
    found = read_config(config)
    load = _workload(options or ModelOptions(), found.architecture)
    name = path.resolve().name
    if not values:
        shapes = checked_shapes(path, found.architecture)
        return build_transformer(name, found.architecture, load, shapes, found.digest)
    weights = folder_weights(path, found.architecture)
    if weights is not None:
        check_numbers(found.architecture)
    return build_transformer(name, found.architecture, load, weights, found.digest)


def _workload(options: ModelOptions, sides: Architecture) -> Workload:
    """Return the options with blanks filled; nobody is given more tokens than a table has."""
    usual = DEFAULT_SEQUENCE
    if sides.position == "learned":
        usual = min(usual, sides.positions)
    return options.resolved(sequence=usual)
