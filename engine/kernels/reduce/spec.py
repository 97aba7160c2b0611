"""Reductions and normalisations."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduce(Operation):
    """Reduce `axes` (non-negative) of inputs[0] by `fn`."""

    fn: str
    """name in `values.REDUCE_FUNCTIONS`: sum, mean, max, argmax ..."""
    axes: tuple[int, ...]
    keepdims: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Softmax(Operation):
    """Softmax (or its logarithm) over one axis.

    `causal` needs the last axis: row i of the axis before it sees the columns up to i + (columns -
    rows), so the last row sees all. Columns not seen weigh 0.
    """

    axis: int
    log: bool = False
    causal: bool = False
    window: int = 0
    """columns a row sees at most, its own included; 0: all (with `causal`)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalize(Operation):
    """`(x - mean) / sqrt(var + epsilon)` over `axes`, times scale, plus bias when given.

    inputs = (x, scale?, bias?). `center` False is RMS normalisation (no mean subtracted).
    """

    axes: tuple[int, ...]
    epsilon: float
    center: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK(Operation):
    """The `k` largest (or smallest) along `axis`, in order: outputs = (values, int64 indices).

    Of equal elements the one with the lower index comes first.
    """

    axis: int
    k: int
    largest: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CumSum(Operation):
    """Running sums along one axis."""

    axis: int
    exclusive: bool = False
    """leave out the element itself"""
    reverse: bool = False
    """sum from the end"""
