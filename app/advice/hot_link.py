"""Rule: one link carries far more than the others."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule

TIMES = 3.0
"""times the median of the links in use"""
LEAST = 0.3
"""wavelets a cycle over the run below which a link is never hot"""


def check(facts: Facts) -> Finding | None:
    """Fire when a link carries over 3 times the median, and at least 0.3 wavelets a cycle."""
    hot, median = facts.hot, facts.median_load
    if hot is None or hot.load < LEAST or hot.load <= TIMES * median:
        return None
    proposals: list[Changes] = []
    if facts.run.config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    if facts.run.config.max_chunks != 8:
        proposals.append((Change("max_chunks", "8"),))
    return Finding(
        f"{hot.sentence}; {hot.load / max(median, 1e-12):.1f} times the median of all links in use",
        (("load", f"{hot.load:.3g} wavelets a cycle"),
         ("median", f"{median:.3g} wavelets a cycle"),
         *((s.ends, f"{s.load:.3g} wavelets a cycle") for s in hot.senders[:4])),
        ("dtype", "max_chunks"), tuple(proposals), place=(hot.row, hot.col, 1, 1),
        weight=hot.load,
    )  # fmt: skip


RULE = Rule("hot-link", "One link far above the others", check)
