"""Replaces calls by bodies: the model's own functions, and ONNX's for operators without a rule.

Knows protobufs; what is covered is told to it.
"""

from __future__ import annotations

from collections.abc import Container

import onnx
from onnx import defs, inliner

from lowering.errors import ModelImportError


def inline(model: onnx.ModelProto, covered: Container[str]) -> onnx.ModelProto:
    """Return the model with local functions and uncovered standard operators taken apart.

    An operator that ONNX cannot take apart stays, to be reported with the others.
    """
    if model.functions:
        try:
            model = inliner.inline_local_functions(model)
        except (RuntimeError, ValueError) as error:
            raise ModelImportError(f"a function of the model cannot be inlined: {error}") from error
    wanted = {
        node.op_type
        for node in model.graph.node
        if not node.domain and node.op_type not in covered and _has_body(node)
    }
    for op_type in sorted(wanted):
        model = _taken_apart(model, op_type)
    return model


def _has_body(node: onnx.NodeProto) -> bool:
    """Return whether ONNX defines the operator by others; omitted inputs make its inliner fail."""
    try:
        schema = defs.get_schema(node.op_type)
    except defs.SchemaError:
        return False
    body = schema.has_function or schema.has_context_dependent_function
    return bool(body) and all(node.input)


def _taken_apart(model: onnx.ModelProto, op_type: str) -> onnx.ModelProto:
    try:
        return inliner.inline_selected_functions(
            model, [("", op_type)], inline_schema_functions=True
        )
    except (RuntimeError, ValueError):
        return model
