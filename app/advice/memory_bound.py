"""Rule: SRAM ports hold kernels up more than arithmetic does."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import percent


def check(facts: Facts) -> Finding | None:
    """Fire when memory cycles exceed compute cycles over the run."""
    if facts.totals["memory"] <= facts.totals["compute"]:
        return None
    kernels = [k.id for k in facts.run.program.kernels]
    name = max(kernels, key=lambda kernel: facts.inside(kernel)["memory"])
    proposals: list[Changes] = []
    if facts.run.config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    return Finding(
        f"PEs wait for their SRAM ports for {percent(facts.share('memory'))} of their cycles and "
        f"compute for {percent(facts.share('compute'))}; most of it in {name}",
        (("memory", percent(facts.share("memory"))),
         ("compute", percent(facts.share("compute")))),
        ("dtype",), tuple(proposals), kernels=(name,), weight=facts.share("memory"),
    )  # fmt: skip


RULE = Rule("memory-bound", "SRAM ports above compute", check)
