"""Rule: the weight ports hold a streaming run up."""

from __future__ import annotations

from app.advice.activation_bound import less_kept
from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule
from app.finding.intensity import border_words
from app.units import count, percent
from engine.program import Program
from lowering.config import KNOBS

SHARE = 0.3
"""share of the critical path"""


def check(facts: Facts) -> Finding | None:
    """Fire when the weight ports hold over 30 % of the critical path."""
    share = facts.weighing / facts.makespan
    if share <= SHARE:
        return None
    config, program = facts.run.config, facts.run.program
    away = facts.run.compiled.report.activations.outside
    proposals: list[Changes] = []
    if any(("phase", "optimizer") in kernel.tags for kernel in program.kernels):
        proposals.append((Change("optimizer", "host"),))
    if away and config.spill_mb is not None:
        proposals.append((Change("spill_mb", "auto"),))
    if away:
        proposals += less_kept(facts)
    if config.storage != "fp16":
        proposals.append((Change("dtype", "fp16"),))
    if config.prefetch < KNOBS["prefetch"].high:
        proposals.append((Change("prefetch", str(config.prefetch + 1)),))
    if config.mode == "streaming":
        proposals.append((Change("mode", "pipeline"),))
    return Finding(
        f"the weight ports hold {percent(share)} of the critical path",
        (("weight ports on the critical path", f"{count(facts.weighing)} cycles"),
         ("through the ports a sample", _passing(program)),
         ("weight ports", f"{facts.run.machine.weight_wavelets_per_cycle:g} wavelets a cycle"),
         ("wait-weights", percent(facts.share("wait-weights")))),
        ("optimizer", *(("activation_mb", "spill_mb") if away else ()), "dtype", "prefetch",
         "mode"),
        tuple(proposals), weight=share,
    )  # fmt: skip


def _passing(program: Program) -> str:
    """Return the wavelets that pass the ports in a sample, and how many are activations."""
    arriving = sum(stream.words for stream in program.streams)
    back = sum(border_words(transfer) for transfer in program.transfers if transfer.comes_back)
    leaving = sum(border_words(transfer) for transfer in program.transfers if transfer.leaves)
    told = f", of those in {count(back)} of activations that waited outside" if back else ""
    return f"{count(arriving + back)} wavelets in, {count(leaving)} out{told}"


RULE = Rule("weight-bound", "The weight ports hold the run up", check)
