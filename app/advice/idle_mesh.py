"""Rule: much of the mesh has no kernel."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Finding, Rule
from app.units import count, percent

MOST_FREE = 0.25
"""share of PEs that may be without a kernel"""


def check(facts: Facts) -> Finding | None:
    """Fire when more than a quarter of the working PEs belong to no kernel."""
    run, free = facts.run, 1 - facts.used_share
    if free <= MOST_FREE:
        return None
    proposals = tuple((Change("pe_cap", "auto", kernel),) for kernel, _ in run.config.pe_caps)
    pes = round(free * run.machine.working_pes)
    return Finding(
        f"{percent(free)} of the PEs ({count(pes)}) belong to no kernel",
        (("PEs without a kernel", count(pes)), ("kernels", count(len(run.program.kernels))),
         ("PE caps set", count(len(run.config.pe_caps)))),
        ("pe_cap", "machine"), proposals, weight=free,
    )  # fmt: skip


RULE = Rule("idle-mesh", "Mesh partly unused", check)
