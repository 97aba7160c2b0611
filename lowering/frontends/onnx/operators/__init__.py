"""ONNX operators to mesh operations, one file for each group; `OPERATORS` is all of them."""

from __future__ import annotations

from lowering.frontends.onnx.functions import operators_with_bodies
from lowering.frontends.onnx.operators import (
    constants,
    contraction,
    control,
    einsum,
    indexing,
    layout,
    normalisation,
    optimizers,
    pointwise,
    quantized,
    recurrent,
    reduction,
    resizing,
)
from lowering.frontends.onnx.table import Importer

OPERATORS: dict[str, Importer] = {
    **pointwise.OPERATORS,
    **contraction.OPERATORS,
    **layout.OPERATORS,
    **normalisation.OPERATORS,
    **reduction.OPERATORS,
    **indexing.OPERATORS,
    **constants.OPERATORS,
    **recurrent.OPERATORS,
    **resizing.OPERATORS,
    **quantized.OPERATORS,
    **optimizers.OPERATORS,
    **control.OPERATORS,
    **einsum.OPERATORS,
}


def supported_operators() -> tuple[str, ...]:
    """Return the ONNX operators that can be imported, by a rule or by their body, sorted."""
    return tuple(sorted({*OPERATORS, *operators_with_bodies(OPERATORS)}))
