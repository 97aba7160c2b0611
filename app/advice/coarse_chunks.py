"""Rule: kernels wait for whole tensors where chunks could overlap them."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Finding, Rule
from app.units import count, percent

SHARE = 0.1
"""share of the PE-cycles of kernels' regions"""


def check(facts: Facts) -> Finding | None:
    """Fire when `max_chunks` is below 8 and over 10 % are waits for input, fill or drain."""
    now = facts.run.config.max_chunks
    lost = facts.share("wait-input", "wait-fabric", "fill", "drain")
    whole = [t.id for t in facts.run.program.transfers if t.chunks >= now and not t.whole]
    if now >= 8 or lost <= SHARE or not whole:
        return None
    proposals = tuple((Change("max_chunks", str(n)),) for n in (8, 4, 2) if n > now)
    return Finding(
        f"samples move in at most {now} chunk(s) and {percent(lost)} of the cycles of kernels' "
        "PEs are waits for them; smaller chunks would overlap the kernels",
        (("edges at the limit", count(len(whole))), ("waits", percent(lost))),
        ("max_chunks",), proposals, weight=lost,
    )  # fmt: skip


RULE = Rule("coarse-chunks", "Samples move in large chunks", check)
