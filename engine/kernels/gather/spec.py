"""Gathers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Gather(Operation):
    """`numpy.take(inputs[0], inputs[1], axis)`; negative indices count from the end."""

    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherND(Operation):
    """ONNX GatherND of (data, indices)."""

    batch_dims: int = 0
