"""From the critical path to what the makespan is made of. A pure function; no screen.

Cycles of a kernel on the path fall to its causes as a mean PE spends them; what a mean PE waits
for the slowest is imbalance. Cores moving words count as fabric.
"""

from __future__ import annotations

from app.runs.run import Run
from app.units import count, percent
from app.views.bottleneck import BottleneckView, ShareRow
from engine.bottleneck import critical_shares
from engine.profile import BUSY_CAUSES

_KIND = {"compute": "compute", "overhead": "overhead", "memory": "memory", "transfer": "fabric"}


def view_bottleneck(run: Run) -> BottleneckView:
    """Return what holds the critical path, with the lower bound."""
    execution, makespan = run.execution, run.timeline.makespan
    kernels, shares = critical_shares(execution.program, execution.net, run.timeline)
    cycles = dict.fromkeys(("compute", "overhead", "memory", "fabric", "input", "imbalance"), 0.0)
    cycles["fabric"], cycles["input"] = float(shares["fabric"]), float(shares["host"])
    if run.program.loader:
        cycles["loader"] = float(shares["loader"])
    if run.program.streams:
        cycles["weights"] = float(shares["weights"])
    for name, held in kernels.items():
        profile = execution.profiles[name]
        whole = profile.length * int(profile.counts().sum())
        for cause in (*BUSY_CAUSES, "imbalance"):
            cycles[_KIND.get(cause, cause)] += held * profile.total(cause) / whole
    rows = _rounded(cycles, makespan)
    kernel = max(kernels, key=lambda name: kernels[name], default="")
    bound = execution.bottleneck.bound_cycles
    where = f", most of it in {kernel} ({count(kernels[kernel])} cycles)" if kernel else ""
    hold = "hold" if rows[0].kind == "weights" else "holds"
    sentence = (
        f"{rows[0].kind} {hold} {percent(rows[0].share)} of the critical path of "
        f"{count(makespan)} cycles{where}; the lower bound of these kernels is {count(bound)} "
        f"cycles ({percent(bound / max(1, makespan))})"
    )
    return BottleneckView(
        kind=rows[0].kind, kernel=kernel, kernel_cycles=kernels.get(kernel, 0), rows=rows,
        makespan=makespan, bound_cycles=bound, bound_share=bound / max(1, makespan),
        standing=run.standing, sentence=sentence,
    )  # fmt: skip


def _rounded(cycles: dict[str, float], makespan: int) -> tuple[ShareRow, ...]:
    """Return rows of whole cycles; what rounding leaves goes to the largest."""
    whole = {kind: int(value) for kind, value in cycles.items()}
    largest = max(whole, key=lambda kind: cycles[kind])
    whole[largest] += makespan - sum(whole.values())
    rows = [ShareRow(kind, value, value / max(1, makespan)) for kind, value in whole.items()]
    return tuple(sorted(rows, key=lambda row: -row.cycles))
