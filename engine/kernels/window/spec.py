"""Pooling windows."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Operation):
    """Reduce windows of the spatial axes of inputs[0] (N, C, *spatial) by `fn`."""

    fn: str
    """max | mean"""
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    """(before, after) of each spatial axis; what ceil mode needs beyond is in `extra`"""
    dilations: tuple[int, ...]
    count_include_pad: bool = False
    """mean: divide by the kernel's size even where the window covers pads"""
    extra: tuple[int, ...] = ()
    """cells after the pads that only ceil mode reaches, never counted"""
