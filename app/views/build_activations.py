"""From a run to the lifetimes of its activations. A pure function but for the compiler's cache."""

from __future__ import annotations

from app.finding.activations import FATES, fates, remedy, slot_bytes
from app.runs.run import Run
from app.units import count, percent, size
from app.views.activations import ActivationRow, ActivationsView, AlivePoint
from app.views.build_memory import MOST_POINTS
from lowering.cache import StageCache
from lowering.lifetimes import Activation, Lifetimes

MOST_ROWS = 300
"""activations handed out"""
_PIPELINE = (
    "each kernel has PEs of its own, so activations move on in chunks and none waits for a turn; "
    "'memory' shows the slots they take"
)
_NONE = "no activation passes from one kernel to another"


def view_activations(run: Run, cache: StageCache) -> ActivationsView:
    """Return every activation of a run whose kernels take turns; none of a pipeline."""
    found = run.compiled.report.activations
    standing = run.standing_of("exact for this program")
    if not found.rows:
        text = _NONE if run.program.mode == "streaming" else _PIPELINE
        return ActivationsView((), 0, "", 0, 0, 0, (), 0, "", "", "", standing, "ok", text)
    order = [kernel.id for kernel in run.program.kernels]
    alive = found.alive(len(order))
    turn = order.index(found.peak_kernel)
    points, peak = _points(order, alive, turn)
    rows, total = _rows(run, found.rows)
    told = remedy(run, cache)
    return ActivationsView(
        points=points, peak=peak, peak_kernel=found.peak_kernel, peak_turn=turn + 1,
        turns=len(order), peak_bytes=found.peak_bytes, rows=rows, more=len(found.rows) - len(rows),
        traffic=_traffic(found),
        remedy=told.sentence if told else "", budget_mb=told.budget_mb if told else "",
        standing=standing, severity="ok" if run.program.would_run else "alert",
        sentence=f"most activations are alive in the turn of {found.peak_kernel} (turn "
        f"{turn + 1:,} of {len(order):,}): {size(found.peak_bytes)} over the wafer, "
        f"those make up {_peak_share(found.rows, total)} of what all {len(found.rows):,} cost",
    )  # fmt: skip


def _traffic(found: Lifetimes) -> str:
    """Say what leaves the wafer and comes back."""
    if not found.outside:
        return ""
    count = len(found.outside)
    return (
        f"{count:,} of them wait{'s' if count == 1 else ''} outside between turns: a sample sends "
        f"{size(found.left_bytes)} out through the weight ports and takes "
        f"{size(found.back_bytes)} back (knob spill_mb)"
    )


def _peak_share(rows: tuple[Activation, ...], total: int) -> str:
    return percent(sum(row.bytes * row.turns for row in rows if row.at_peak) / max(1, total))


def _rows(run: Run, found: tuple[Activation, ...]) -> tuple[tuple[ActivationRow, ...], int]:
    """Return the most expensive rows, and the byte-turns of all."""
    fate, held = fates(run), slot_bytes(run)
    total = sum(row.bytes * row.turns for row in found)
    rows = tuple(
        _row(row, fate[row.tensor], held[row.tensor], row.bytes * row.turns / max(1, total))
        for row in found[:MOST_ROWS]
    )
    return rows, total


def _row(row: Activation, fate: str, held: int, share: float) -> ActivationRow:
    cost = row.bytes * row.turns
    peak = ", alive at the peak" if row.at_peak else ""
    outside = f" and outside for {row.away:,} in between" if row.returns else ""
    return ActivationRow(
        row.tensor, row.made_by, row.last_read_by, row.turns, row.away, row.bytes, held, cost,
        share, row.phase, fate, row.at_peak,
        f"{row.tensor}: made by {row.made_by}, read last by {row.last_read_by}, "
        f"{size(row.bytes)} for {row.turns:,} turns{outside} ({count(cost)} byte-turns, "
        f"{percent(share)} of all){peak}; {FATES[fate]}; its slots take {size(held)} of "
        "the fullest PE",
    )  # fmt: skip


def _points(
    order: list[str], alive: list[int], turn: int
) -> tuple[tuple[AlivePoint, ...], int]:  # fmt: skip
    """Return the points and the peak's index; of several that share a point the fullest is kept."""
    bins = min(len(order), MOST_POINTS)
    kept = []
    for index in range(bins):
        group = range(index * len(order) // bins, (index + 1) * len(order) // bins)
        at = turn if turn in group else max(group, key=lambda place: alive[place])
        kept.append(AlivePoint(order[at], at + 1, alive[at]))
    return tuple(kept), ((turn + 1) * bins - 1) // len(order)
