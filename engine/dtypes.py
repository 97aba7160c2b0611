"""Storage and accumulation dtypes of a PE: name, bits, and how a float32 number is rounded to one.

An open table: a new dtype is one entry here and a vector rate in a machine. Knows no machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rounding = Callable[[np.ndarray], np.ndarray]

_LOW_BITS = 16
"""bits of a float32 that bfloat16 drops"""


@dataclass(frozen=True, slots=True)
class Dtype:
    """A number format."""

    name: str
    bits: int
    """bits an element"""
    rounding: Rounding
    """float32 array -> float32 array of representable values, nearest, ties to even"""
    spread: float
    """largest relative error of one rounding"""

    @property
    def bytes(self) -> int:
        """bytes an element"""
        return self.bits // 8


def _fp32(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32, copy=False)


def _fp16(array: np.ndarray) -> np.ndarray:
    """IEEE 754 binary16: what is too large becomes infinite."""
    with np.errstate(over="ignore"):
        return array.astype(np.float16).astype(np.float32)


def _bf16(array: np.ndarray) -> np.ndarray:
    """Keep the upper half of a float32: its exponent and 7 bits of fraction."""
    wide = np.ascontiguousarray(array, np.float32)
    bits = wide.view(np.uint32)
    even = (bits >> _LOW_BITS) & 1
    half = np.uint32((1 << (_LOW_BITS - 1)) - 1)
    with np.errstate(over="ignore"):
        upper = (bits + half + even) >> _LOW_BITS << _LOW_BITS
    rounded = upper.astype(np.uint32).view(np.float32)
    return np.where(np.isnan(wide), wide, rounded).reshape(array.shape)


DTYPES: dict[str, Dtype] = {
    each.name: each
    for each in (
        Dtype("fp32", 32, _fp32, 2.0**-24),
        Dtype("fp16", 16, _fp16, 2.0**-11),
        Dtype("bf16", 16, _bf16, 2.0**-8),
    )
}
"""every dtype by name, the widest first"""


def rounded(array: np.ndarray, dtype: str) -> np.ndarray:
    """Return floats rounded to a dtype and held as float32; integers and float64 as they are.

    float64 keeps its bits: what a model declares so wide would lose its range otherwise.
    """
    if array.dtype.kind != "f" or array.dtype == np.float64:
        return array
    return DTYPES[dtype].rounding(array)
