"""Rule: activations fill the SRAM of a run whose kernels take turns."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import percent, size

FULL = 0.6
"""share of a PE's SRAM that the fullest one has allocated"""
SHARE = 0.5
"""part of what the fullest turns hold that is activations, the rest is weights"""


def check(facts: Facts) -> Finding | None:
    """Fire when a PE is over 60 % full and over half of what is held is activations."""
    run, report = facts.run, facts.run.compiled.report
    capacity, fullest = run.machine.sram_bytes, max(facts.allocated.values(), default=0)
    held = report.activation_bytes
    share = held / max(1, held + report.parameter_bytes)
    if run.program.mode != "streaming" or fullest <= FULL * capacity or share <= SHARE:
        return None
    proposals = less_kept(facts)
    if run.config.spill_mb is None or run.config.spill_mb > held / 4e6:
        proposals.append((Change("spill_mb", _megabytes(held / 4)),))
    if run.config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    if run.config.prefetch:
        proposals.append((Change("prefetch", str(run.config.prefetch - 1)),))
    peak = report.activations.peak_kernel
    return Finding(
        f"activations are {percent(share)} of what the fullest turns hold; the fullest PE has "
        f"{size(fullest)} of {size(capacity)} SRAM allocated",
        (("activations over the wafer, fullest turn", size(held)),
         ("weights over the wafer, fullest turn", size(report.parameter_bytes)),
         ("most alive at once", f"{size(report.activations.peak_bytes)} in the turn of {peak}")),
        ("activation_mb", "spill_mb", "dtype", "prefetch"), tuple(proposals), "sram",
        kernels=(peak,) if peak else (), weight=share * fullest / capacity,
    )  # fmt: skip


def less_kept(facts: Facts) -> list[Changes]:
    """Return budgets under which a streamed training step runs parts again instead of keeping."""
    run = facts.run
    phases = {value for k in run.program.kernels for key, value in k.tags if key == "phase"}
    if run.program.mode != "streaming" or "backward" not in phases:
        return []
    held = run.compiled.report.activation_bytes
    return [(Change("activation_mb", _megabytes(held / part)),) for part in (10, 100)]


def _megabytes(size: float) -> str:
    return f"{float(f'{size / 1e6:.4g}'):.12g}"


RULE = Rule("activation-bound", "Activations fill the SRAM", check)
