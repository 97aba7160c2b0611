"""Gradients of layer and RMS normalisation, taken apart. Knows the writer alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.kernels.reduce.spec import Normalize, Reduce
from lowering.frontends.transformer.writer import DTYPE, Writer


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the gradients need of the forward pass, computed again from its input."""

    scaled: str
    """the normalised input"""
    inverse: str
    """1 / standard deviation of each row"""


def normalize_gradients(pen: Writer, name: str, op: Normalize, given: str) -> dict[str, str]:
    """Return gradients of (x, scale, bias).

    With n the normalised row and g the gradient times the scale, x gets
    (g - mean(g) - n mean(g n)) / deviation; RMS normalisation has no mean(g).
    """
    rows = _rows(pen, name, op)
    found: dict[str, str] = {}
    inner = given
    if len(op.inputs) > 1:
        inner = pen.map("mul", f"{name}/inner", given, op.inputs[1])
        product = pen.map("mul", f"{name}/scale/each", given, rows.scaled)
        found[op.inputs[1]] = _over_rows(pen, f"{name}/scale", product, op)
    if len(op.inputs) > 2:
        found[op.inputs[2]] = _over_rows(pen, f"{name}/bias", given, op)
    along = pen.map("mul", f"{name}/along/each", inner, rows.scaled)
    along = pen.map(
        "mul", f"{name}/along", rows.scaled, _mean(pen, f"{name}/along/mean", along, op)
    )
    rest = pen.map("sub", f"{name}/rest", inner, along)
    if op.center:
        rest = pen.map("sub", f"{name}/centred", rest, _mean(pen, f"{name}/mean", inner, op))
    found[op.inputs[0]] = pen.map("mul", f"{name}/x", rest, rows.inverse)
    return found


def _rows(pen: Writer, name: str, op: Normalize) -> _Rows:
    x = op.inputs[0]
    if op.center:
        x = pen.map("sub", f"{name}/again/centred", x, _mean(pen, f"{name}/again/mean", x, op))
    square = pen.map("mul", f"{name}/again/square", x, x)
    spread = _mean(pen, f"{name}/again/spread", square, op)
    epsilon = pen.constant(f"number {op.epsilon!r}", np.asarray(op.epsilon, DTYPE))
    inverse = pen.map(
        "rsqrt", f"{name}/again/inverse", pen.add(f"{name}/again/safe", spread, epsilon)
    )
    return _Rows(pen.map("mul", f"{name}/again", x, inverse), inverse)


def _mean(pen: Writer, name: str, x: str, op: Normalize) -> str:
    return pen.emit(Reduce, name, "ReduceMean", x, fn="mean", axes=op.axes, keepdims=True)


def _over_rows(pen: Writer, name: str, x: str, op: Normalize) -> str:
    axes = tuple(axis for axis in range(len(pen.shape(x))) if axis not in op.axes)
    return pen.emit(Reduce, name, "ReduceSum", x, fn="sum", axes=axes, keepdims=False)
