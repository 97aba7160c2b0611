"""Rule: the program does not fit, so every figure is a what-if."""

from __future__ import annotations

from app.advice.activation_bound import less_kept
from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule, slots_pair
from app.units import count


def check(facts: Facts) -> Finding | None:
    """Fire when the compile report holds an overflow."""
    run = facts.run
    overflows = run.compiled.report.overflows
    if run.program.would_run or not overflows:
        return None
    proposals: list[Changes] = []
    if run.config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    proposals += less_kept(facts) + _optimizer(facts)
    if run.config.spill_mb is not None and run.program.mode == "streaming":
        proposals.append((Change("spill_mb", "auto"),))
    if run.config.weights == "stored":
        proposals.append((Change("weights", "int8"),))
    proposals += [slots_pair(n) for n in (2, 1) if (run.config.in_slots or 99) > n]
    proposals += [(Change("pe_cap", "auto", kernel),) for kernel, _ in run.config.pe_caps]
    smallest = run.compiled.report.smallest_machine
    if smallest:
        proposals.append((Change("machine", smallest),))
    evidence = tuple(
        (item.where, f"{count(item.demand)} of {count(item.bound)} {item.unit}")
        for item in overflows[:5]
    )
    return Finding(
        f"the program does not fit in {len(overflows)} place(s): {overflows[0].sentence()}",
        evidence,
        ("dtype", "weights", "slots", "pe_cap", "machine", "activation_mb", "spill_mb",
         "optimizer"),
        tuple(proposals), "fit", "alert", weight=1.0,
    )  # fmt: skip


def _optimizer(facts: Facts) -> list[Changes]:
    """Return what takes the state of a streamed training step off the wafer."""
    program = facts.run.program
    updates = any(("phase", "optimizer") in kernel.tags for kernel in program.kernels)
    outside = program.mode == "streaming" and updates
    return [(Change("optimizer", "host"),)] if outside else []


RULE = Rule("does-not-fit", "The program does not fit", check)
