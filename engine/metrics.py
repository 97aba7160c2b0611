"""The table of what can be shown of a step, PE by PE. Knows names and units, no numbers."""

from __future__ import annotations

from dataclasses import dataclass

from engine.causes import CAUSES

LINK_PLANES = ("east", "west", "north", "south")
"""links by the direction they leave a PE's router"""
RAMP_PLANES = ("inject", "deliver")
"""ramps: core to router, router to core"""
PLANES = LINK_PLANES + RAMP_PLANES


@dataclass(frozen=True, slots=True)
class Metric:
    """One quantity of a PE in a step."""

    id: str
    label: str
    unit: str
    kind: str
    """fraction (0..1) | bytes | load (wavelets a cycle) | category (index in CAUSES)"""
    palette: str
    """name of a colour table"""
    pool: str
    """how PEs share a pixel: max | mean | mode"""
    standing: str
    """exact | bound | model, with what it rests on"""
    help: str


def _cause_metric(cause: str) -> Metric:
    return Metric(
        f"cause:{cause}", cause, "% of step", "fraction", "cividis", "mean",
        "model: cycles from kernel profiles", f"share of the step's cycles spent in {cause}",
    )  # fmt: skip


_PROFILE = "model: cycles from kernel profiles"
_EXACT = "exact for this program"
_FULLEST = "bound: sizes of the kernel's fullest PE"

METRICS: dict[str, Metric] = {
    metric.id: metric
    for metric in (
        Metric("utilization", "utilization", "% of step", "fraction", "viridis", "mean",
               _PROFILE, "compute cycles / cycles of the step"),
        Metric("cause", "dominant cause", "", "category", "category", "mode",
               _PROFILE, "the cause that took most of the PE's cycles in the step"),
        Metric("sram_live", "SRAM live", "bytes", "bytes", "inferno", "max",
               _FULLEST, "bytes that hold data in this step"),
        Metric("sram_allocated", "SRAM allocated", "bytes", "bytes", "inferno", "max",
               _FULLEST, "bytes of the layout that the compiler made"),
        Metric("traffic", "traffic", "wavelets a cycle", "load", "inferno", "max",
               _EXACT, "wavelets that left the router over its four links / cycles, at most 4"),
        *(Metric(f"link_{plane}", f"link {plane}", "wavelets a cycle", "load", "inferno", "max",
                 _EXACT, f"wavelets that left {plane}wards / cycles, at most 1")
          for plane in LINK_PLANES),
        *(_cause_metric(cause) for cause in CAUSES if cause not in ("defective", "unassigned")),
    )
}  # fmt: skip
