"""Facts for tests of rules: those of a small run, some of them given; and a lab of known cycles."""

from __future__ import annotations

from dataclasses import replace

from app.advice.facts import Facts
from app.advice.lab import Trial
from app.advice.rule import Changes
from app.runs.run import Run
from engine.causes import CAUSES
from engine.progress import NO_PROGRESS, Progress
from engine.timing.clock import simulate
from lowering.config import CompileConfig
from tests.factories.timing_nets import build_chain


def facts_of(run: Run, **known: object) -> Facts:
    """Return a run's facts, those named replaced."""
    facts = Facts(run)
    facts.__dict__.update(known)
    return facts


def totals_of(**cycles: int) -> dict[str, int]:
    """Return PE-cycles by cause, those not named 0; `_` stands for `-`."""
    named = {name.replace("_", "-"): amount for name, amount in cycles.items()}
    return {cause: named.get(cause, 0) for cause in CAUSES}


def with_config(run: Run, **choices: object) -> Run:
    """Return the run as if compiled with other choices."""
    config: CompileConfig = replace(run.config, **choices)  # type: ignore[arg-type]
    return replace(run, compiled=replace(run.compiled, config=config))


class ChainLab:
    """Times the worked example with other slots: what T0 gives, no compiler needed."""

    def __init__(self, out: int, slots: int) -> None:
        self._now = {"out_slots": out, "in_slots": slots}
        self.asked: list[Changes] = []

    def measure(self, changes: Changes, progress: Progress = NO_PROGRESS) -> Trial:
        """Return the makespan of the chain with slots changed."""
        self.asked.append(changes)
        slots = {**self._now, **{c.knob: int(c.value) for c in changes}}
        timeline = simulate(build_chain(slots["out_slots"], slots["in_slots"]))
        return Trial(timeline.makespan, 3, 100 * sum(slots.values()), True)
