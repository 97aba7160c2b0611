"""Values of dequantised weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.dequantize.spec import Dequantize, blocks
from engine.kernels.pointwise.functions import Array


def evaluate(op: Dequantize, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Subtract the zero point as integers, then multiply in the dtype of the scale."""
    integers, scale = arrays[0], arrays[1]
    sides = blocks(integers.shape, scale.shape)
    if sides is None:
        raise ValueError(f"scales {scale.shape} do not divide integers {integers.shape}")
    # (a, b) in blocks of (1, 4) is seen as (a, 1, b / 4, 4), its scales as (a, 1, b / 4, 1)
    seen = tuple(side for pair in zip(scale.shape, sides, strict=True) for side in pair)
    beside = tuple(side for each in scale.shape for side in (each, 1))
    wide = integers.reshape(seen).astype(np.int32)
    if len(op.inputs) > 2:
        wide = wide - arrays[2].reshape(beside).astype(np.int32)
    result = wide.astype(scale.dtype) * scale.reshape(beside)
    return (result.reshape(integers.shape),)
