"""Rule: the ports to the host hold the run up."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import count, percent

SHARE = 0.15
"""share of the critical path"""


def check(facts: Facts) -> Finding | None:
    """Fire when host transfers hold over 15 % of the critical path."""
    _, _, host = facts.critical
    share = host / facts.makespan
    if share <= SHARE:
        return None
    proposals: list[Changes] = []
    if facts.run.config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    if facts.run.config.max_chunks != 8:
        proposals.append((Change("max_chunks", "8"),))
    rate, channels = facts.run.program.host_rate, facts.run.program.host_channels
    if channels and rate == channels:
        proposals.insert(0, (Change("host_channels", "auto"),))
    return Finding(
        f"the host ports hold {percent(share)} of the critical path",
        (("host transfers on the critical path", f"{count(host)} cycles"),
         ("host port", f"{rate:g} wavelets a cycle"),
         ("wait-host", percent(facts.share("wait-host")))),
        ("dtype", "max_chunks", "host_channels"), tuple(proposals), weight=share,
    )  # fmt: skip


RULE = Rule("host-bound", "The host ports hold the run up", check)
