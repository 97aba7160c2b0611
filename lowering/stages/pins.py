"""Pins: places that a user chose for kernels, checked before anything is placed around them.

Knows names, rectangles and the grid; no sizes of kernels.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from engine.geometry import Rect
from engine.machine import MachineSpec
from lowering.config import CompileConfig, KnobError, pin_text
from lowering.stages.infeasible import Infeasible


def pinned_places(config: CompileConfig, kernels: Sequence[str]) -> dict[str, Rect]:
    """Return the place of each pinned kernel; kernels with a PE cap are looked up too.

    Raises:
        KnobError: no such kernel, or a place that is not there or not free.
    """
    places = dict(config.pins)
    for knob, named in (("pe_cap", dict(config.pe_caps)), ("pin", places)):
        for name in named:
            if name not in kernels:
                raise KnobError(_unknown(knob, name, kernels))
    if problem := pin_problem(places, config.machine):
        raise KnobError(problem)
    return places


def _unknown(knob: str, name: str, kernels: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, kernels, n=1, cutoff=0.4)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return (
        f"knob {knob}@{name}: the model has no kernel '{name}' (with this fusion){hint} "
        f"Kernels: {', '.join(kernels[:8])}{', ...' if len(kernels) > 8 else ''}; "
        f"{knob}@{name}=auto takes it back"
    )


def pin_problem(places: Mapping[str, Rect], machine: MachineSpec) -> str:
    """Return why the places cannot be kept on a machine, empty when they can."""
    for name, place in places.items():
        if place.end_row > machine.rows or place.end_col > machine.cols:
            return (
                f"knob pin@{name}: {pin_text(place)} ends at row {place.end_row - 1}, column "
                f"{place.end_col - 1}, outside the {machine.rows}x{machine.cols} PEs of "
                f"{machine.name}"
            )
        for row, col in machine.defects:
            if place.contains(row, col):
                return f"knob pin@{name}: {pin_text(place)} covers the defective PE ({row}, {col})"
    for (one, first), (two, second) in combinations(places.items(), 2):
        if first.overlaps(second):
            return (
                f"knob pin@{two}: {pin_text(second)} overlaps kernel '{one}' pinned to "
                f"{pin_text(first)}"
            )
    return ""


def too_small(name: str, place: Rect) -> Infeasible:
    """Say that a pinned kernel's SRAM does not suffice in its place."""
    return Infeasible(
        resource="SRAM", demand=1, bound=0, unit="kernels",
        where=f"kernel '{name}' pinned to {pin_text(place)} needs more SRAM a PE than there is",
        levers=("pin it to more PEs (knob pin)", f"free it (pin@{name}=auto)"),
    )  # fmt: skip


def around_pins(found: Infeasible, places: Mapping[str, Rect]) -> Infeasible:
    """Return a finding about the other kernels that says what they had to go around."""
    names = ", ".join(f"'{name}' ({pin_text(place)})" for name, place in places.items())
    return replace(
        found,
        where=f"around the pinned {names}: {found.where}",
        levers=("move, shrink or free the pin (knob pin)", *found.levers),
    )
