"""Imports a model whose shapes, axes or counts are fed: their values become part of the program."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from engine.kernels.pointwise.functions import Array
from lowering.errors import UnsupportedOpError
from lowering.frontends.onnx.importing import import_file
from lowering.frontends.onnx.reading import ModelFile
from lowering.graph import Graph


def import_with_values(
    file: ModelFile,
    fed: Mapping[str, Array],
    dims: Mapping[str, int] | None = None,
    *,
    values: bool = True,
) -> Graph:
    """Import a model, fixing those of the `fed` inputs that say how to lay out others.

    The graph's inputs are the ones that stayed open; what was fixed is what the import asks for
    and nothing else, so the graph depends on these values only.

    Raises UnsupportedOpError where an operator asks for an input that is not fed, or for something
    no input gives.
    """
    bound: dict[str, Array] = {}
    while True:
        copy = onnx.ModelProto()
        copy.CopyFrom(file.model)
        again = ModelFile(file.path, copy, file.digest)
        try:
            return import_file(again, dims, values=values, bound=bound)
        except UnsupportedOpError as error:
            wanted = {name for op in error.ops for name in op.inputs if name in fed}
            if not wanted - bound.keys():
                raise
            bound.update({name: fed[name] for name in wanted})
