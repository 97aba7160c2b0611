"""Weights kept as integers of one byte, and what lies beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from engine.kernels.spec import KernelSpec, Operation

INTEGER_BYTES = 1
"""bytes of an integer, and of a zero point"""
VECTOR_OPS = 2
"""vector operations that make floats of integers: convert (less the zero point), times the scale;
our assumption, no figure for it is published"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dequantize(Operation):
    """`outputs[0] = (inputs[0] - zero point) * scale` in the dtype of the scale.

    inputs = (integers of 8 bits, scale, zero point?). Scale and zero point have the rank of the
    integers, and each of their sides divides that of the integers: a number serves a block.
    """


@dataclass(frozen=True, slots=True)
class Scales:
    """How the scales of K x N integers lie over them."""

    terms: int
    """K"""
    results: int
    """N"""
    k_block: int
    """terms that share a scale"""
    n_block: int
    """results that share a scale"""
    zeros: bool
    """a zero point lies beside each scale"""

    @property
    def count(self) -> int:
        """scales of the whole weight"""
        return (self.terms // self.k_block) * (self.results // self.n_block)

    def bytes_each(self, scale_bytes: int) -> int:
        """Return the bytes of a scale with its zero point."""
        return scale_bytes + INTEGER_BYTES * self.zeros


def stored_as(spec: KernelSpec) -> Mapping[str, Dequantize]:
    """Return how the main operation's weights are kept, by the name it reads them under."""
    before = spec.ops[: spec.main]
    return {op.outputs[0]: op for op in before if isinstance(op, Dequantize)}


def blocks(whole: tuple[int, ...], scale: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the integers a scale serves along each axis; None where sides do not divide."""
    if len(whole) != len(scale) or any(s < 1 or w % s for w, s in zip(whole, scale, strict=True)):
        return None
    return tuple(w // s for w, s in zip(whole, scale, strict=True))


def matrix_scales(
    whole: tuple[int, ...], scale: tuple[int, ...], *, zeros: bool, conv: bool
) -> Scales | None:
    """Return the scales of a product's weights (K, N), or of a convolution's (N, C, *kernel).

    None where they do not lie in rectangles of K x N: several matrices, or a convolution's scales
    that differ inside a kernel.
    """
    sides = blocks(whole, scale)
    if sides is None or len(whole) < 2:
        return None
    if conv:
        if max(scale[2:], default=1) > 1:
            return None
        inner = prod(whole[2:])
        return Scales(whole[1] * inner, whole[0], sides[1] * inner, sides[0], zeros)
    if prod(whole[:-2]) > 1:
        return None
    return Scales(whole[-2], whole[-1], sides[-2], sides[-1], zeros)
