"""Rule: samples are decoded too slowly on the host."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.units import count, percent
from lowering.config import KNOBS

SHARE = 0.15
"""share of the critical path"""


def check(facts: Facts) -> Finding | None:
    """Fire when decoding on the host holds over 15 % of the critical path."""
    loader, config = facts.run.program.loader, facts.run.config
    share = facts.loading / facts.makespan
    if loader is None or share <= SHARE:
        return None
    proposals: list[Changes] = [
        (Change("loader_workers", str(workers)),)
        for workers in (2 * loader.workers, 4 * loader.workers)
        if workers <= KNOBS["loader_workers"].high
    ]
    if loader.prefetch == 1:
        proposals.append((Change("loader_prefetch", "2"),))
    if config.decode_rate is not None and 2 * config.decode_rate <= KNOBS["decode_rate"].high:
        proposals.append((Change("decode_rate", f"{2 * config.decode_rate:.15g}"),))
    workers = f"{loader.workers} worker{'s' if loader.workers > 1 else ''}"
    return Finding(
        f"decoding samples on the host holds {percent(share)} of the critical path",
        (("decoding on the critical path", f"{count(facts.loading)} cycles"),
         ("loader", f"{workers}, {count(loader.cycles)} cycles a sample each"),
         ("wait-host", percent(facts.share("wait-host")))),
        ("loader_workers", "decode_rate", "loader_prefetch"), tuple(proposals), weight=share,
    )  # fmt: skip


RULE = Rule("loader-bound", "Samples are decoded too slowly on the host", check)
