"""Replaces calls of the model's own functions by their bodies. Knows protobufs only."""

from __future__ import annotations

import onnx
from onnx import inliner

from lowering.errors import ModelImportError


def inline(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with its local functions taken apart."""
    if not model.functions:
        return model
    try:
        return inliner.inline_local_functions(model)
    except (RuntimeError, ValueError) as error:
        raise ModelImportError(f"a function of the model cannot be inlined: {error}") from error
