"""Kernels under the roofs of the machine. Plain frozen data, no screen."""

from __future__ import annotations

from dataclasses import dataclass

from app.views.base import View


@dataclass(frozen=True, slots=True)
class RoofRow:
    """A limit of the machine, per PE."""

    name: str
    kind: str
    """peak | ports (both flat) | ramps | weights (both rise with the operations a byte)"""
    ops_per_cycle: float | None
    """of a flat roof"""
    bytes_per_cycle: float | None
    """of one that rises"""
    standing: str
    """where the figure comes from"""


@dataclass(frozen=True, slots=True)
class RoofPoint:
    """A kernel, or the whole run, as a point."""

    kernel: str
    """empty for the whole run"""
    kind: str
    pes: int
    ops: int
    """operations of all samples"""
    ramp_bytes: int
    """over the busier side of its ramps, all samples"""
    weight_bytes: int
    """through the weight ports, all samples: weights and activations that waited outside"""
    ops_per_byte: float | None
    """operations a byte over the ramps, None where nothing moves"""
    ops_per_weight_byte: float | None
    """operations a byte through the weight ports, None where nothing passes them"""
    x: float | None
    """place on the x axis: operations a byte through the weight ports where some pass, else over
    the ramps; None where nothing moves"""
    x_of: str
    """kind of the roof that rises over this place: weights | ramps"""
    rate: float
    """operations a cycle a PE, over the time that the PEs are its own"""
    inside_rate: float
    """operations a cycle a PE while an instance runs and nothing is waited for"""
    attainable: float
    """lowest of the roofs over it"""
    bound: str
    """name of that roof"""
    share: float
    """rate / attainable; above 1 where some of what it reads came in during earlier turns"""
    sentence: str


@dataclass(frozen=True, slots=True)
class RooflineView(View):
    """A roofline: operations a byte (x) against operations a cycle a PE (y), both logarithmic."""

    roofs: tuple[RoofRow, ...]
    points: tuple[RoofPoint, ...]
    """kernels that compute, in program order"""
    whole: RoofPoint | None
    """the run, None when nothing computes"""
    silent: tuple[str, ...]
    """kernels without arithmetic: they have no place on the axes"""
    selected: str | None
    """kernel selected, None for none"""
    x_decades: tuple[int, int]
    """powers of ten that bound the x axis"""
    y_decades: tuple[int, int]
    """powers of ten that bound the y axis"""
    standing: str
    sentence: str
