"""What becomes of each activation where kernels take turns, and what lowers their peak.

Reads the compiler's lifetimes; knows no screen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil, floor, log10

from app.runs.run import Run
from app.units import size
from lowering.activation_floor import activation_floor
from lowering.cache import StageCache
from lowering.lifetimes import Activation
from lowering.passes.recompute import AGAIN

OUTSIDE, KEPT, DROPPED, AGAIN_MADE, PASSED = (
    "outside", "kept", "dropped", "made again", "passed on"
)  # fmt: skip
FATES = {
    OUTSIDE: "leaves the wafer and comes back for later turns",
    KEPT: "kept for the backward pass",
    DROPPED: "dropped after the forward pass, made again in the backward pass",
    AGAIN_MADE: "made a second time, for the backward pass",
    PASSED: "passed on within its phase",
}
"""fate -> what it means"""
_DIGITS = 4
"""significant digits of a budget that is proposed"""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What the activation budget can do about the peak."""

    sentence: str
    budget_mb: str
    """value of the knob that lowers the peak, empty where none does"""


def fates(run: Run) -> dict[str, str]:
    """Return the fate of every activation, a key of FATES by tensor."""
    rows = run.compiled.report.activations.rows
    phases = {kernel.id: dict(kernel.tags).get("phase", "") for kernel in run.program.kernels}
    names = {row.tensor for row in rows}
    return {row.tensor: _fate(row, phases, names) for row in rows}


def _fate(row: Activation, phases: dict[str, str], names: set[str]) -> str:
    if row.returns:
        return OUTSIDE
    if row.phase == "recompute":
        return AGAIN_MADE
    if row.tensor + AGAIN in names:
        return DROPPED
    is_ahead = row.phase in ("forward", "loss")
    if is_ahead and phases[row.last_read_by] not in ("forward", "loss"):
        return KEPT
    return PASSED


def slot_bytes(run: Run) -> Counter[str]:
    """Return the SRAM that each tensor's slots take on the fullest PE, all of them together."""
    held: Counter[str] = Counter()
    for buffer in run.program.buffers:
        if buffer.role in ("in slot", "out slot"):
            held[buffer.name] += buffer.size
    return held


def remedy(run: Run, cache: StageCache) -> Remedy | None:
    """Return what `activation_mb` can do about the peak; None where nothing trains."""
    if not any(dict(kernel.tags).get("phase") == "backward" for kernel in run.program.kernels):
        return None
    now = run.compiled.report.activations.peak_bytes
    least, segments = activation_floor(run.compiled.graph, run.config, cache)
    if not segments:
        return Remedy(
            "activation_mb cannot lower it: that takes a training step in which one activation "
            "leads from layer to layer", "",
        )  # fmt: skip
    set_to = "" if run.config.activation_mb is None else f" (now {run.config.activation_mb:g})"
    if least >= now:
        return Remedy(
            f"activation_mb{set_to} cannot lower it: with all {segments:,} segments of the forward "
            "pass run again as much would be alive", "",
        )  # fmt: skip
    budget = _rounded_up(least / 1e6)
    return Remedy(
        f"activation_mb = {budget}{set_to} lowers it: with enough of the {segments:,} segments of "
        f"the forward pass run again at most {size(least)} are alive at once, "
        f"{1 - least / now:.0%} less (counted, not timed)", budget,
    )  # fmt: skip


def _rounded_up(value: float) -> str:
    """Return a number as text that is not below it, with few digits."""
    unit = 10.0 ** (floor(log10(value)) - _DIGITS + 1)
    return f"{ceil(value / unit - 1e-9) * unit:.{_DIGITS}g}"
