"""Rule: kernels wait for slots, at one end of an edge or at both at once."""

from __future__ import annotations

from app.advice.facts import Facts
from app.advice.rule import Change, Changes, Finding, Rule, slots_pair
from app.finding.because import Gap, Tie
from app.units import count, percent

SHARE = 0.03
"""cycles waited for slots by the kernel that waits longest / makespan"""
_ENDS = ("in_slots", "out_slots")


def check(facts: Facts) -> Finding | None:
    """Fire when a kernel waits for slots for over 3 % of the makespan."""
    waits = [(gap, found) for gap, found in facts.waits
             if any(tie.lever in _ENDS for tie in found)]  # fmt: skip
    by_kernel: dict[int, int] = {}
    for gap, _ in waits:
        by_kernel[gap.kernel] = by_kernel.get(gap.kernel, 0) + gap.t1 - gap.t0
    if not by_kernel or max(by_kernel.values()) < SHARE * facts.makespan:
        return None
    worst = max(by_kernel, key=lambda kernel: by_kernel[kernel])
    name = facts.run.program.kernels[worst].id
    tied = sum(1 for _, found in waits if len({t.lever for t in found if t.lever in _ENDS}) > 1)
    lost = by_kernel[worst]
    text = f"{name} waits {count(lost)} cycles ({percent(lost / facts.makespan)}) for slots"
    if tied:
        text += f"; {tied} wait(s) end with an in slot and an out slot at once"
    return Finding(
        text, _evidence(waits, facts), ("slots",), _proposals(facts, waits), kernels=(name,),
        weight=lost / facts.makespan,
    )  # fmt: skip


def _evidence(
    waits: list[tuple[Gap, tuple[Tie, ...]]], facts: Facts
) -> tuple[tuple[str, str], ...]:
    rows = []
    for gap, found in waits[:3]:
        name = facts.run.program.kernels[gap.kernel].id
        told = "; ".join(tie.sentence for tie in found)
        rows.append((f"{name}, sample {gap.sample}, cycles {gap.t0:,}..{gap.t1 - 1:,}", told))
    return tuple(rows)


def _proposals(facts: Facts, waits: list[tuple[Gap, tuple[Tie, ...]]]) -> tuple[Changes, ...]:
    """Return one more slot at either end, and at both; a tie needs both."""
    transfers = {t.id: t for t in facts.run.program.transfers}
    named = {tie.transfer for _, found in waits for tie in found if tie.lever in _ENDS}
    most = max(max(transfers[n].out_slots, *transfers[n].in_slots) for n in named)
    single = [(Change(end, str(most + 1)),) for end in _ENDS]
    return (*single, slots_pair(most + 1), slots_pair(2 * most + 1))


RULE = Rule("slots", "Kernels wait for slots", check)
