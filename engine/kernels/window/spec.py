"""Pooling windows."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Operation):
    """Reduce windows of the spatial axes of inputs[0] (N, C, *spatial) by `fn`.

    With a second output (max only): where each maximum was found, an index into inputs[0] as one
    row, int64.
    """

    fn: str
    """max | mean"""
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    """(before, after) of each spatial axis; what ceil mode needs beyond is in `extra`"""
    dilations: tuple[int, ...]
    count_include_pad: bool = False
    """mean: divide by the kernel's size even where the window covers pads"""
    column_major: bool = False
    """indices count the spatial axes from the first to the last, not from the last"""
    extra: tuple[int, ...] = ()
    """cells after the pads that only ceil mode reaches, never counted"""
