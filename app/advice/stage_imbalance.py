"""Rule: one stage of the pipeline lasts longer than the others."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import count

RATIO = 1.3
"""longest / mean cycles of a sample through a region"""


def check(facts: Facts) -> Finding | None:
    """Fire when the slowest region takes over 1.3 times the mean."""
    lengths = facts.region_lengths
    if len(lengths) < 2:
        return None
    mean, most = sum(lengths.values()) / len(lengths), max(lengths.values())
    if most <= RATIO * mean:
        return None
    name = facts.slowest
    box = facts.kernel(name).region
    return Finding(
        f"{name} takes {count(most)} cycles a sample, {most / mean:.2f} times the mean of the "
        "stages; the others wait for it",
        (("slowest stage", f"{name}, {count(most)} cycles"),
         ("mean stage", f"{count(round(mean))} cycles")),
        ("pe_cap",), _proposals(facts, name), kernels=(name,),
        place=(box.row, box.col, box.rows, box.cols), weight=1 - mean / most,
    )  # fmt: skip


def _proposals(facts: Facts, slowest: str) -> tuple[Changes, ...]:
    """Free the slowest from its cap, or take PEs from the largest of those that wait."""
    found: list[Changes] = []
    if facts.run.config.cap(slowest) is not None:
        found.append((Change("pe_cap", "auto", slowest),))
    names = [k.id for k in facts.run.program.kernels if k.id != slowest]
    largest = max(names, key=facts.area)
    if facts.area(largest) > 1:
        found.append((Change("pe_cap", str(facts.area(largest) // 2), largest),))
    return tuple(found)


RULE = Rule("stage-imbalance", "Pipeline stages differ", check)
