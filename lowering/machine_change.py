"""A machine with some figures changed by hand; its name and its sources say so.

Knows no knobs and no files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from engine.machine import MachineSpec, SimdRate

RATE = "_rate"
"""`fp32_rate` is the figure of the fp32 entry of `MachineSpec.simd`"""
BY_HAND = "set by hand, no source"
_CASTS: dict[str, Callable[[float], bool | int | float]] = {
    "bool": bool, "int": int, "float": float,
}  # fmt: skip
_KINDS = {field.name: field.type for field in fields(MachineSpec)}


def changed_machine(base: MachineSpec, figures: Sequence[tuple[str, float]]) -> MachineSpec:
    """Return `base` with the figures replaced, under a name such as wse2[hop_cycles=3].

    A figure is a field of MachineSpec that is a number or a switch (1 or 0), or DTYPE_rate for
    elements a cycle.

    Raises:
        MachineError: the machine makes no sense with these figures.
    """
    if not figures:
        return base
    changes: dict[str, Any] = {}
    simd = base.simd
    for name, value in figures:
        if name.endswith(RATE):
            simd = _with_rate(simd, name.removesuffix(RATE), value)
        else:
            changes[name] = _CASTS[str(_KINDS[name])](value)
    shown = ",".join(f"{name}={value:.15g}" for name, value in figures)
    notes = tuple((name, BY_HAND) for name, _ in figures)
    return replace(
        base, name=f"{base.name}[{shown}]", simd=simd, sources=(*notes, *base.sources), **changes
    )


def _with_rate(simd: tuple[SimdRate, ...], dtype: str, rate: float) -> tuple[SimdRate, ...]:
    if all(known.dtype != dtype for known in simd):
        return (*simd, SimdRate(dtype, rate, simd[0].setup_cycles))
    return tuple(
        replace(known, elements_per_cycle=rate) if known.dtype == dtype else known for known in simd
    )


def timeless(machine: MachineSpec) -> MachineSpec:
    """Return the machine without what neither placement nor routing depends on.

    Two machines with equal results here share their kernels' places and routes.
    """
    return replace(machine, name="", sources=(), clock_hz=1.0, host_wavelets_per_cycle=1.0)
