"""Brings a parsed model to one dialect: static inputs, named nodes, opset 20 or later.

Large weights are taken out before the checker and the converter see the model, so neither copies
them. Knows protobufs; nothing of operations.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

import onnx
from onnx import TensorProto, ValueInfoProto, helper, version_converter

from lowering.errors import ModelImportError
from lowering.frontends.onnx.inlining import inline
from lowering.frontends.onnx.reading import ModelFile, numpy_dtype

TARGET_OPSET = 20
"""the dialect the operators are written for; older models are converted to it"""
_IR_VERSION = 10
_KEPT_ELEMENTS = 1024
"""larger initializers wait outside while the model is checked and converted"""
_DOMAINS = ("", "ai.onnx")
OPEN_SIDE = -1
"""what exporters of Paddle write where a side has no name"""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedModel:
    """A model of one dialect and its initializers."""

    model: onnx.ModelProto
    weights: Mapping[str, TensorProto]
    """the initializers by name"""
    inputs: Mapping[str, tuple[tuple[int, ...], int]]
    """(shape, ONNX element type) of what the user feeds"""


def prepare(file: ModelFile, dims: Mapping[str, int]) -> PreparedModel:
    """Fix the dimensions, name the nodes, check, convert, and inline the model's functions."""
    model = file.model
    _check_opset(model)
    weights = _take_weights(model)
    inputs = _fix_inputs(model, dims)
    _name_nodes(model)
    large = {name: each for name, each in weights.items() if _elements(each) > _KEPT_ELEMENTS}
    model.graph.initializer.extend(each for name, each in weights.items() if name not in large)
    model.graph.input.extend(
        helper.make_tensor_value_info(name, each.data_type, list(each.dims))
        for name, each in large.items()
    )
    _check(model)
    model = inline(_convert(model))
    _name_nodes(model)
    for each in model.graph.initializer:
        weights.setdefault(each.name, each)
    return PreparedModel(model, weights, inputs)


def _elements(tensor: TensorProto) -> int:
    count = 1
    for side in tensor.dims:
        count *= side
    return count if tensor.data_location != TensorProto.EXTERNAL else _KEPT_ELEMENTS + 1


def _opset(model: onnx.ModelProto) -> int:
    return max((o.version for o in model.opset_import if o.domain in _DOMAINS), default=0)


def _check_opset(model: onnx.ModelProto) -> None:
    newest = onnx.defs.onnx_opset_version()
    opset = _opset(model)
    if not opset and model.opset_import and all(node.domain for node in model.graph.node):
        model.opset_import.append(helper.make_opsetid("", TARGET_OPSET))
        opset = TARGET_OPSET
    if not 1 <= opset <= newest:
        said = f"opset {opset}" if opset else "no opset"
        raise ModelImportError(
            f"the model declares {said} of the default domain; opsets 1 to {newest} are known"
        )


def _take_weights(model: onnx.ModelProto) -> dict[str, TensorProto]:
    """Take initializers, and the inputs that repeat them in files of IR version 3, out."""
    graph = model.graph
    if graph.sparse_initializer:
        raise ModelImportError("the model has sparse initializers; store them dense")
    weights = {each.name: each for each in graph.initializer}
    fed = [each for each in graph.input if each.name not in weights]
    del graph.initializer[:], graph.input[:], graph.value_info[:]
    graph.input.extend(fed)
    model.ir_version = max(model.ir_version, _IR_VERSION)
    return weights


def _fix_inputs(
    model: onnx.ModelProto, dims: Mapping[str, int]
) -> dict[str, tuple[tuple[int, ...], int]]:
    known: set[str] = set()
    inputs = {}
    for each in model.graph.input:
        if not each.type.HasField("tensor_type"):
            raise ModelImportError(f"input '{each.name}' is not a tensor; only tensors can be fed")
        shape = tuple(_side(each, axis, dims, known) for axis in range(_rank(each)))
        elem_type = each.type.tensor_type.elem_type
        numpy_dtype(elem_type, f"input '{each.name}'")
        inputs[each.name] = (shape, elem_type)
    for name in dims:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1) or sorted(known)[:3]
            hint = f"; it has {', '.join(near)}" if near else "; all its sides are fixed"
            raise ModelImportError(f"the model has no open dimension '{name}'{hint}")
    return inputs


def _rank(value: ValueInfoProto) -> int:
    if not value.type.tensor_type.HasField("shape"):
        raise ModelImportError(
            f"input '{value.name}' declares no shape; export the model with input shapes"
        )
    return len(value.type.tensor_type.shape.dim)


def _side(value: ValueInfoProto, axis: int, dims: Mapping[str, int], known: set[str]) -> int:
    """Return one side of an input and write it into the model; -1 marks an open side, too."""
    dim = value.type.tensor_type.shape.dim[axis]
    fixed = dim.HasField("dim_value") and dim.dim_value != OPEN_SIDE
    if fixed:
        side = int(dim.dim_value)
    else:
        name = dim.dim_param or f"{value.name}.{axis}"
        known.add(name)
        if name not in dims:
            raise ModelImportError(
                f"dimension '{name}' (axis {axis} of input '{value.name}') is open; "
                f"fix it with --dim {name}=<number>"
            )
        side = dims[name]
    if side < 0 or (side < 1 and not fixed):
        raise ModelImportError(
            f"input '{value.name}' has a side of {side} on axis {axis}; it must be at least 1"
        )
    dim.dim_value = side
    return side


def _name_nodes(model: onnx.ModelProto) -> None:
    taken = {node.name for node in model.graph.node}
    seen: set[str] = set()
    for index, node in enumerate(model.graph.node):
        if not node.name or node.name in seen:
            stem = node.name or f"{node.op_type}_{index}"
            while stem in taken:
                stem += "_"
            node.name = stem
            taken.add(stem)
        seen.add(node.name)


def _check(model: onnx.ModelProto) -> None:
    """Run ONNX's checker, which wants output types that some exporters leave out."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    for output in whole.graph.output:
        kind = output.type.tensor_type
        kind.elem_type = kind.elem_type or TensorProto.FLOAT
        kind.shape.SetInParent()
    try:
        onnx.checker.check_model(whole)
    except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
        raise ModelImportError(f"the ONNX checker refuses the model: {_line(error)}") from error


def _convert(model: onnx.ModelProto) -> onnx.ModelProto:
    opset = _opset(model)
    if opset >= TARGET_OPSET:
        return model
    try:
        return version_converter.convert_version(model, TARGET_OPSET)
    except (RuntimeError, ValueError, TypeError) as error:
        raise ModelImportError(
            f"the model of opset {opset} cannot be converted to opset {TARGET_OPSET}: "
            f"{_line(error)}; export it again at opset {TARGET_OPSET}"
        ) from error


def _line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])[:300] or type(error).__name__
