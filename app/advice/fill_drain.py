"""Rule: filling and draining the pipeline take much of the run."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import count, percent

SHARE = 0.2
"""share of the PE-cycles of kernels' regions"""
MOST_SAMPLES = 64
"""samples up to which more are proposed"""


def check(facts: Facts) -> Finding | None:
    """Fire when fill and drain take over 20 % of the PE-cycles in kernels' regions."""
    lost, samples = facts.share("fill", "drain"), facts.run.program.samples
    if lost <= SHARE:
        return None
    proposals: list[Changes] = [
        (Change("samples", str(samples * by)),) for by in (2, 4) if samples * by <= MOST_SAMPLES
    ]
    if facts.run.config.max_chunks != 8:
        proposals.append((Change("max_chunks", "8"),))
    return Finding(
        f"{percent(lost)} of the cycles of kernels' PEs are fill and drain of the pipeline "
        f"with {samples} samples",
        (("fill", percent(facts.share("fill"))), ("drain", percent(facts.share("drain"))),
         ("samples", count(samples))),
        ("samples", "max_chunks"), tuple(proposals), weight=lost,
    )  # fmt: skip


RULE = Rule("fill-drain", "Fill and drain of the pipeline", check)
