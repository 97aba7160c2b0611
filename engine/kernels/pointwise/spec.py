"""Elementwise operations."""

from __future__ import annotations

from dataclasses import dataclass

from engine.kernels.spec import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Map(Operation):
    """`outputs[0] = fn(*inputs, *params)` with numpy broadcasting.

    `fn` is a name in `functions.FUNCTIONS`.
    """

    fn: str
    params: tuple[float, ...] = ()
    """scalar parameters of the function, such as alpha of leaky_relu"""
    dtype: str = ""
    """numpy dtype of the result where the function does not fix it (cast)"""
