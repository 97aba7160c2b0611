"""Convolutions."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Conv(Operation):
    """Cross-correlation of inputs (N, C, *spatial) with weights (K, C / groups, *kernel).

    inputs = (x, w); a bias is a separate addition. Follows ONNX Conv.
    """

    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    """(before, after) of each spatial axis, zeros"""
    dilations: tuple[int, ...]
    groups: int = 1
