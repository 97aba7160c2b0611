"""Walks a prepared ONNX graph once, in order: shapes, folding and operations in one go.

Every shape is known before a node is reached, so `Shape` and what is made from it fold away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from onnx import GraphProto, NodeProto

from engine.kernels.pointwise.functions import Array
from lowering.errors import ModelImportError, UnsupportedOpError
from lowering.frontends.builder import GraphBuilder
from lowering.frontends.onnx.bodies import DOMAINS, BodyImporter, free_names, needed_nodes
from lowering.frontends.onnx.context import NotCoveredError, NotStaticError
from lowering.frontends.onnx.operators import OPERATORS
from lowering.frontends.onnx.preparing import OPEN_SIDE, PreparedModel, prepare
from lowering.frontends.onnx.reading import (
    ModelFile,
    is_external,
    numpy_dtype,
    read_model,
    read_tensor,
    tensor_shape,
)
from lowering.frontends.onnx.refusals import Refusals
from lowering.frontends.onnx.weights import product_weights
from lowering.graph import Graph

SHAPE_ONLY_KEY = "waferscope.shape_only"
"""metadata entry; "1" says that ConstantOfShape stands for weights without numbers"""
_SHAPE_ONLY_BYTES = 2**20
"""weights above this are not read when only shapes are wanted"""
_DAMAGE = (ValueError, TypeError, IndexError, KeyError, OverflowError, MemoryError, AttributeError)
"""what a damaged node can raise in an importer; each becomes a ModelImportError"""


def load_onnx(
    path: str | Path,
    dims: Mapping[str, int] | None = None,
    *,
    values: bool = True,
    bound: Mapping[str, Array] | None = None,
) -> Graph:
    """Import an .onnx file as a Graph of static shapes.

    `dims` fixes symbolic dimensions by name (an unnamed one is `<input>.<axis>`). Without `values`
    weights above 1 MiB are kept as shapes only. `parameters` of the result counts the elements of
    the float tensors of rank 1 or more that the file declares and the outputs need, each declared
    name once; equal tensors under two names count twice; of weights kept as integers the integers
    count, not their scales. `bound` gives inputs of the model a value
    that is part of the program: what says how to lay out (a shape, axes, a count) must be known.

    Raises ModelImportError for a file that cannot be read as a model of static shapes and
    UnsupportedOpError, with all of them, for operators the mesh does not cover.
    """
    path = Path(path)
    return import_file(read_model(path), dims, values=values, bound=bound)


def import_file(
    file: ModelFile,
    dims: Mapping[str, int] | None = None,
    *,
    values: bool = True,
    bound: Mapping[str, Array] | None = None,
) -> Graph:
    """Import a parsed model; see `load_onnx`."""
    path = file.path
    try:
        shape_only = any(
            entry.key == SHAPE_ONLY_KEY and entry.value == "1"
            for entry in file.model.metadata_props
        )
        prepared = prepare(file, dims or {})
        builder = GraphBuilder()
        fixed = bound or {}
        _add_inputs(builder, prepared, fixed)
        _add_weights(builder, prepared, path.parent, values=values)
        graph = prepared.model.graph
        opset = max(o.version for o in prepared.model.opset_import if o.domain in DOMAINS[:2])
        bodies = BodyImporter(builder, OPERATORS, opset, shape_only or not values)
        _add_nodes(bodies, graph, path.stem)
        _check_outputs(builder, graph)
        outputs = [output.name for output in graph.output]
        inputs = [name for name in prepared.inputs if name not in fixed]
        made = builder.finish(path.stem, inputs, outputs, file.digest)
        return replace(made, fixed=tuple(name for name in prepared.inputs if name in fixed))
    except (ModelImportError, UnsupportedOpError) as error:
        error.add_note(f"in {path}")
        raise
    except _DAMAGE as error:
        raise ModelImportError(f"{path} is damaged: {type(error).__name__}: {error}") from error


def _add_inputs(builder: GraphBuilder, prepared: PreparedModel, bound: Mapping[str, Array]) -> None:
    """Declare what the user feeds; a bound input, or one without elements, is a constant."""
    for name, (shape, elem_type) in prepared.inputs.items():
        dtype = numpy_dtype(elem_type, f"input '{name}'")
        if name in bound or 0 in shape:
            array = np.asarray(bound.get(name, np.empty(shape)), dtype)
            if array.shape != shape:
                raise ModelImportError(
                    f"input '{name}' is fixed to an array of shape {array.shape}; "
                    f"the model declares {shape}"
                )
            builder.add_constant(name, array, {name})
            continue
        try:
            builder.add_value(name, shape, dtype.name)
        except ValueError as error:
            raise ModelImportError(f"input: {error}") from error


def _add_weights(
    builder: GraphBuilder, prepared: PreparedModel, folder: Path, *, values: bool
) -> None:
    for name, tensor in prepared.weights.items():
        dtype = numpy_dtype(tensor.data_type, f"tensor '{name}'")
        shape = tensor_shape(tensor)
        count = 1
        for side in shape:
            count *= side
        if not values and (is_external(tensor) or count * dtype.itemsize > _SHAPE_ONLY_BYTES):
            builder.add_unknown(name, shape, dtype.name, {name})
        else:
            builder.add_constant(name, read_tensor(tensor, folder), {name})


def _add_nodes(bodies: BodyImporter, graph: GraphProto, model: str) -> None:
    refusals = Refusals(graph)
    outputs = [output.name for output in graph.output]
    nodes = needed_nodes(graph.node, outputs)
    read = {*outputs, *(name for node in nodes for name in free_names(node))}
    bodies.builder.weights = product_weights(nodes, outputs)
    for node in nodes:
        if not refusals.block(node):
            try:
                bodies.node(node, read)
            except NotStaticError as error:
                refusals.add(node, str(error), error.inputs)
            except NotCoveredError as error:
                refusals.add(node, str(error))
            except _DAMAGE as error:
                raise _at(node, error) from error
    if report := refusals.report():
        raise UnsupportedOpError(model, report)


def _at(node: NodeProto, error: Exception) -> ModelImportError:
    said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
    return ModelImportError(f"node '{node.name}' ({node.op_type}): {said}")


def _check_outputs(builder: GraphBuilder, graph: GraphProto) -> None:
    for output in graph.output:
        if builder.resolve(output.name) not in builder.values:
            raise ModelImportError(f"output '{output.name}' is computed by no node")
        if any(output.name == each.name for each in graph.input):
            raise ModelImportError(
                f"output '{output.name}' is an input of the model, so nothing computes it; "
                "leave it out, or put an Identity between the two"
            )
        shape = builder.value(output.name).shape
        if not output.type.tensor_type.HasField("shape"):
            continue
        sides = output.type.tensor_type.shape.dim
        declared = tuple(
            d.dim_value if d.HasField("dim_value") and d.dim_value != OPEN_SIDE else None
            for d in sides
        )
        fits = len(declared) == len(shape) and all(
            want in (None, side) for want, side in zip(declared, shape, strict=True)
        )
        if not fits:
            said = tuple("?" if side is None else side for side in declared)
            raise ModelImportError(
                f"output '{output.name}' is declared as {said} and computed as {shape}; "
                "export the model again with the shapes you want"
            )
