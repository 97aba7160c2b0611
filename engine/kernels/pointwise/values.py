"""Values of elementwise operations, whole tensors at once. Knows no regions and no tiles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.kernels.pointwise.functions import FUNCTIONS, Array
from engine.kernels.pointwise.spec import Map


def result_dtype(op: Map, dtypes: Sequence[str]) -> str:
    """Return the numpy dtype name of the result for inputs of `dtypes`."""
    rule = FUNCTIONS[op.fn].result
    if rule == "bool":
        return "bool"
    if rule == "given":
        return op.dtype
    return dtypes[1] if rule == "second" else dtypes[0]


def evaluate(op: Map, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Apply the function; overflow, division by zero and NaN follow IEEE silently."""
    function = FUNCTIONS[op.fn]
    with np.errstate(all="ignore"):
        if function.result == "given":
            return (function.evaluate(arrays[0], op.dtype),)
        result = np.asarray(function.evaluate(*arrays, *op.params))
    dtype = result_dtype(op, [array.dtype.name for array in arrays])
    return (result.astype(dtype, copy=False),)
