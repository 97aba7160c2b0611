"""Rule: a PE's SRAM is nearly full."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule, slots_pair
from app.finding.decisions import layout
from app.units import percent, size

FULL = 0.9
"""share of SRAM from which a PE counts as nearly full"""


def check(facts: Facts) -> Finding | None:
    """Fire when a layout that fits takes at least 90 % of a PE."""
    run, capacity = facts.run, facts.run.machine.sram_bytes
    name = max(facts.allocated, key=lambda kernel: facts.allocated[kernel])
    given = facts.allocated[name]
    if not FULL * capacity <= given <= capacity:
        return None
    held = layout(run, facts.kernel(name))
    proposals: list[Changes] = []
    if run.config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    if run.config.weights == "stored":
        proposals.append((Change("weights", "int8"),))
    if any("slot" in item.role and item.count > 2 for item in held):
        proposals.append(slots_pair(2))
    if run.config.cap(name) is not None:
        proposals.append((Change("pe_cap", "auto", name),))
    box = facts.kernel(name).region
    return Finding(
        f"the fullest PE of {name} has {size(given)} of {size(capacity)} SRAM allocated "
        f"({percent(given / capacity)})",
        tuple((f"{item.role} {item.name}", size(item.size)) for item in held[:4]),
        ("dtype", "weights", "slots", "pe_cap"), tuple(proposals), "sram", kernels=(name,),
        place=(box.row, box.col, box.rows, box.cols), weight=0.2,
    )  # fmt: skip


RULE = Rule("sram-full", "SRAM nearly full", check)
