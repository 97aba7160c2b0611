"""Gathers and scatters."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GatherElements(Operation):
    """`numpy.take_along_axis(inputs[0], inputs[1], axis)`, the other sides cut to the indices'."""

    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter(Operation):
    """inputs[0] with inputs[2] written at the indices inputs[1] along `axis`, element by element.

    Follows ONNX ScatterElements.
    """

    axis: int
    reduction: str = "none"
    """none | add | mul | max | min: how a written element meets the one that is there"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterND(Operation):
    """inputs[0] with the slices inputs[2] written where the last axis of inputs[1] says."""

    reduction: str = "none"
    """none | add | mul | max | min"""
