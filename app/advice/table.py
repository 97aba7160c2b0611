"""Every rule of advice, one file each. Knows no screen."""

from __future__ import annotations

from app.advice import (
    activation_bound,
    coarse_chunks,
    does_not_fit,
    fabric_bound,
    fill_drain,
    host_bound,
    hot_link,
    idle_mesh,
    loader_bound,
    memory_bound,
    mode_choice,
    overhead,
    relayout,
    slots,
    sram_full,
    stage_imbalance,
    tile_imbalance,
    weight_bound,
)
from app.advice.facts import Facts
from app.advice.rule import Finding, Rule
from app.runs.run import Run

RULES: dict[str, Rule] = {
    module.RULE.id: module.RULE
    for module in (
        does_not_fit, mode_choice, sram_full, activation_bound, slots, fill_drain,
        stage_imbalance, tile_imbalance, overhead, coarse_chunks, relayout, memory_bound,
        fabric_bound, weight_bound, loader_bound, host_bound, hot_link, idle_mesh,
    )
}  # fmt: skip
"""rule id -> rule, most urgent kind first"""


def findings(run: Run) -> tuple[tuple[Rule, Finding], ...]:
    """Return what the rules say about a run: alerts first, then by weight."""
    facts = Facts(run)
    found = [(rule, said) for rule in RULES.values() if (said := rule.check(facts)) is not None]
    found.sort(key=lambda item: (item[1].severity != "alert", -item[1].weight))
    return tuple(found)
