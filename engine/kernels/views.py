"""Tensors that are others seen in another shape: they take no bytes of their own."""

from __future__ import annotations

from engine.kernels.move.spec import Reshape
from engine.kernels.spec import KernelSpec


def views(spec: KernelSpec) -> dict[str, str]:
    """Return the tensors of a kernel that are others seen in another shape, and which ones."""
    found: dict[str, str] = {}
    for op in spec.ops:
        if isinstance(op, Reshape):
            found[op.outputs[0]] = found.get(op.inputs[0], op.inputs[0])
    return found
