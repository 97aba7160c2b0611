"""From a run to its SRAM in program order. A pure function; no screen."""

from __future__ import annotations

from app.finding.memory_order import Stretch, stretches
from app.runs.run import Run
from app.units import count, size
from app.views.memory import HolderRow, MemoryPoint, MemoryView
from engine.program import Buffer

MOST_POINTS = 600
"""points handed out; a panel has fewer pixels"""
_LOW = 0.4
"""share of the capacity below which a scale up to the capacity would show nothing"""


def view_memory(run: Run, kernel: str | None = None) -> MemoryView:
    """Return the whole wafer's SRAM in program order, or that of the PEs of a kernel."""
    capacity = run.machine.sram_bytes
    found = stretches(run)
    if kernel is not None:
        found = tuple(stretch for stretch in found if kernel in stretch.kernels)
    scope = "wafer" if kernel is None else f"PEs of {kernel}"
    if not found:
        return MemoryView(
            scope, "operations", (), 0, "", "", 0, 0, capacity, capacity, (), run.standing, "ok",
            "the program has no kernels, so nothing is in SRAM",
        )  # fmt: skip
    place = max(range(len(found)), key=lambda at: int(found[at].live.max()))
    fullest = found[place]
    moment = int(fullest.live.argmax())
    name, words = fullest.kernel_at(moment), fullest.moments[moment]
    points, peak = _points(found, place, moment)
    live = int(fullest.live[moment])
    fits = fullest.allocated <= capacity
    return MemoryView(
        scope=scope, order="turns" if len(fullest.kernels) > 1 else "operations", points=points,
        peak=peak, kernel=name, moment=words, live_bytes=live, allocated_bytes=fullest.allocated,
        capacity_bytes=capacity, top_bytes=_top(live, capacity),
        rows=tuple(_row(fullest, buffer, live) for buffer in fullest.alive(moment)),
        standing=run.standing_of("exact for this program"), severity="ok" if fits else "alert",
        sentence=_sentence(fullest, name, words, live, capacity),
    )  # fmt: skip


def _top(live: int, capacity: int) -> int:
    return max(live, capacity) if live > _LOW * capacity else live + live // 8


def _points(
    found: tuple[Stretch, ...], place: int, moment: int
) -> tuple[tuple[MemoryPoint, ...], int]:
    """Return the points and the peak's index; of several that share a point the fullest is kept."""
    moments = [(stretch, at) for stretch in found for at in range(len(stretch.live))]
    top = sum(len(stretch.live) for stretch in found[:place]) + moment
    bins = min(len(moments), MOST_POINTS)
    kept = []
    for index in range(bins):
        group = moments[index * len(moments) // bins : (index + 1) * len(moments) // bins]
        stretch, at = max(group, key=lambda item: int(item[0].live[item[1]]))
        kept.append(MemoryPoint(stretch.kernel_at(at), stretch.moments[at], int(stretch.live[at])))
    return tuple(kept), ((top + 1) * bins - 1) // len(moments)


def _row(stretch: Stretch, buffer: Buffer, live: int) -> HolderRow:
    since, until = (_moment_words(stretch, end) for end in buffer.live)
    return HolderRow(
        buffer.kernel, buffer.name, buffer.role, buffer.count, buffer.size,
        buffer.size / max(1, live), since, until,
    )  # fmt: skip


def _moment_words(stretch: Stretch, moment: int) -> str:
    if len(stretch.kernels) > 1:
        return stretch.kernel_at(moment)
    return stretch.moments[moment].split(" of ")[0]


def _sentence(stretch: Stretch, kernel: str, words: str, live: int, capacity: int) -> str:
    text = (
        f"most SRAM is in use at {kernel}, {words}: {size(live)} of {size(capacity)} on its "
        f"fullest PE; {size(stretch.allocated)} allocated"
    )
    short = stretch.allocated - capacity
    return text if short <= 0 else f"{text}, short by {count(short)} B"
