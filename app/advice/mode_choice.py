"""Rule: the mode was chosen by hand, and the other one may hold the model or be quicker."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Finding, Rule
from app.units import count
from engine.machine import DTYPE_BYTES

MARGIN = 1.25
"""times the least cycles of the other mode from which it is worth a trial"""
_HOW = {"pipeline": "every layer on PEs of its own", "streaming": "layers in turns"}


def check(facts: Facts) -> Finding | None:
    """Fire when the other mode, at best, takes 20 % fewer cycles a sample, or might fit."""
    run = facts.run
    if run.config.mode == "auto":
        return None
    other = "pipeline" if run.program.mode == "streaming" else "streaming"
    least, now = _least_cycles(facts, other), facts.makespan / run.program.samples
    if least is None or (run.program.would_run and now <= MARGIN * least):
        return None
    return Finding(
        f"mode {run.program.mode} was chosen and takes {now:,.0f} cycles a sample; {other} "
        f"({_HOW[other]}) takes at least {least:,.0f} by its work and its weights alone",
        (("cycles a sample now", f"{now:,.0f}"), (f"least in mode {other}", f"{least:,.0f}"),
         ("weights", f"{count(run.compiled.report.parameters)} parameters")),
        ("mode",), ((Change("mode", other),),), "cycles" if run.program.would_run else "fit",
        weight=max(0.0, 1 - least / now),
    )  # fmt: skip


def _least_cycles(facts: Facts, mode: str) -> float | None:
    """Return what a sample takes at best in a mode; None where its weights do not fit.

    Work: compute spread evenly over all PEs. Weights: in turns they all pass the ports.
    """
    run, machine = facts.run, facts.run.machine
    work = facts.totals["compute"] / run.program.samples / max(1, machine.working_pes)
    held = run.compiled.report.parameters * DTYPE_BYTES[run.config.storage]
    if mode == "pipeline":
        return work if held <= machine.data_sram_bytes * machine.working_pes else None
    return max(work, held / machine.wavelet_bytes / machine.weight_wavelets_per_cycle)


RULE = Rule("mode-choice", "The other mode may be better", check)
