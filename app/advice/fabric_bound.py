"""Rule: transfers between kernels hold much of the critical path."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import count, percent

SHARE = 0.3
"""share of the critical path"""


def check(facts: Facts) -> Finding | None:
    """Fire when transfers between kernels hold over 30 % of the critical path."""
    _, fabric, _ = facts.critical
    share = fabric / facts.makespan
    if share <= SHARE:
        return None
    config = facts.run.config
    proposals: list[Changes] = []
    if config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    proposals += [(Change("max_chunks", str(n)),) for n in (8, 4) if n != config.max_chunks]
    evidence = [("transfers on the critical path", f"{count(fabric)} cycles"),
                ("makespan", f"{count(facts.makespan)} cycles")]  # fmt: skip
    if facts.hot is not None:
        evidence.append(("most loaded link", facts.hot.sentence))
    return Finding(
        f"transfers between kernels hold {percent(share)} of the critical path", tuple(evidence),
        ("dtype", "max_chunks"), tuple(proposals), weight=share,
    )  # fmt: skip


RULE = Rule("fabric-bound", "Transfers hold the critical path", check)
