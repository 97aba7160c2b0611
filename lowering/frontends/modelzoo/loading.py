"""From a Model Zoo YAML to a Graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lowering.errors import ModelImportError
from lowering.frontends.builder import GraphBuilder
from lowering.frontends.fields import Fields
from lowering.frontends.modelzoo.config import ReadZoo, read_zoo
from lowering.frontends.modelzoo.sides import language_model
from lowering.frontends.transformer import ModelOptions, build_transformer
from lowering.frontends.transformer.architecture import MAX_LAYERS
from lowering.frontends.transformer.options import Workload
from lowering.frontends.transformer.training import add_training
from lowering.frontends.transformer.writer import DTYPE, NoNumbers, Writer
from lowering.graph import Graph

_IMAGE, _CLASSES = 784, 10
"""pixels and classes of MNIST"""
_SHAPES = {"relu": "relu", "gelu": "gelu", "tanh": "tanh", "silu": "silu"}


@dataclass(frozen=True, slots=True)
class ZooModel:
    """A graph and what to tell about its file."""

    graph: Graph
    notes: tuple[str, ...]


def load_zoo(path: str | Path, options: ModelOptions | None = None) -> ZooModel:
    """Return the graph of a Model Zoo config; weights have shapes only.

    A decoder is a training step of one micro batch unless `options` say otherwise, an encoder
    (BERT without its pretraining heads) a forward pass.

    Raises ModelImportError for a config or options that make no sense.
    """
    path = Path(path)
    found = read_zoo(path)
    wanted = options or ModelOptions()
    if not found.model.has("name"):
        raise ModelImportError(f"{found.model.where}: field 'name' is missing")
    if found.model.text("name").lower() == "fc_mnist":
        graph = _perceptron(path.stem, found, wanted)
    else:
        graph = _transformer(path.stem, found, wanted)
    return ZooModel(graph, found.notes())


def _transformer(name: str, found: ReadZoo, options: ModelOptions) -> Graph:
    sides = language_model(found.model)
    options = options.or_else(batch=found.batch)
    task = "training" if sides.head else "prefill"
    load = options.resolved(task, found.sequence or sides.positions)
    return build_transformer(name, sides, load, source_hash=found.digest, plan=found.plan)


def _perceptron(name: str, found: ReadZoo, options: ModelOptions) -> Graph:
    """Return MNIST's fully connected net: images (batch, 784) to logits (batch, 1, 10)."""
    options = options.or_else(batch=found.batch)
    load = options.resolved("training", 1)
    if load.task == "decode" or load.tokens != 1:
        raise ModelImportError("fc_mnist reads images: it has neither decode nor a sequence")
    fields = found.model
    sizes = _hidden_sizes(fields)
    fn = fields.text("activation_fn", default="relu").lower()
    if fn not in _SHAPES:
        raise ModelImportError(
            f"{fields.where}: activation_fn '{fn}' is unknown; known: {', '.join(_SHAPES)}"
        )
    pen = Writer(GraphBuilder(), NoNumbers())
    x = pen.builder.add_value("image", (load.batch, _IMAGE), DTYPE).name
    for index, size in enumerate(sizes):
        x = pen.map(
            _SHAPES[fn], f"layers/{index}/act", pen.linear(f"layers/{index}", x, size, bias=True)
        )
    x = pen.linear("head", x, _CLASSES, bias=True)
    logits = pen.reshape("logits", x, load.batch, 1, _CLASSES)
    return _finished(pen, name, logits, load, found)


def _finished(pen: Writer, name: str, logits: str, load: Workload, found: ReadZoo) -> Graph:
    if load.task == "training":
        return add_training(pen, name, "image", logits, found.plan, found.digest)
    return pen.builder.finish(name, ["image"], [logits], found.digest)


def _hidden_sizes(fields: Fields) -> list[int]:
    given = fields.raw("hidden_sizes")
    if isinstance(given, list) and given:
        sizes = Fields(
            {str(i): size for i, size in enumerate(given)}, f"{fields.where}: hidden_sizes"
        )
        return [sizes.integer(str(i)) for i in range(len(given))]
    depth = fields.integer("depth")
    if depth > MAX_LAYERS:
        raise ModelImportError(
            f"{fields.where}: depth {depth:,} is more than the {MAX_LAYERS:,} layers that are "
            "compiled at most"
        )
    return [fields.integer("hidden_size")] * depth
