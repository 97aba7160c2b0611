"""Rule: cores spend more cycles on moving words than on computing."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import percent


def check(facts: Facts) -> Finding | None:
    """Fire when transfer cycles of cores exceed compute cycles over the run."""
    moved, computed = facts.totals["transfer"], facts.totals["compute"]
    if moved <= computed:
        return None
    kernels = [k.id for k in facts.run.program.kernels]
    name = max(kernels, key=lambda kernel: facts.inside(kernel)["transfer"])
    proposals: list[Changes] = []
    if facts.run.config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    area = facts.area(name)
    proposals += [(Change("pe_cap", str(area // by), name),) for by in (2, 4) if area >= by]
    return Finding(
        f"cores move words for {percent(facts.share('transfer'))} of their cycles and compute for "
        f"{percent(facts.share('compute'))}; most of it in {name}",
        (("transfer", percent(facts.share("transfer"))),
         ("compute", percent(facts.share("compute")))),
        ("dtype", "pe_cap"), tuple(proposals), kernels=(name,), weight=facts.share("transfer"),
    )  # fmt: skip


RULE = Rule("relayout", "More moving than computing", check)
