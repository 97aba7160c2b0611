"""Views and copies."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Reshape(Operation):
    """inputs[0] in another shape, row-major order kept."""

    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transpose(Operation):
    """inputs[0] with its axes permuted."""

    perm: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice(Operation):
    """A strided cut of inputs[0], one (start, stop, step) an axis; numpy slice semantics.

    `stop` None runs to the end in the direction of `step`.
    """

    ranges: tuple[tuple[int, int | None, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concat(Operation):
    """inputs one after the other along `axis`."""

    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pad(Operation):
    """inputs[0] with `pads` (before, after >= 0) of each axis filled."""

    pads: tuple[tuple[int, int], ...]
    mode: str
    """constant | reflect | edge | wrap"""
    value: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expand(Operation):
    """inputs[0] broadcast to `shape`."""

    shape: tuple[int, ...]
