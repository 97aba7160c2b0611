"""From a streaming run and a step to whose turn it is. A pure function; no screen.

The timeline holds a row for each kernel, then a row for each weight stream.
"""

from __future__ import annotations

import numpy as np

from app.runs.run import Run
from app.units import count, percent
from app.views.streaming import ArrivalRow, StreamingView
from engine.timing.net import weight_transfers


def view_streaming(run: Run, step: int) -> StreamingView | None:
    """Return whose turn it is and what arrives; None for a run without weight streams."""
    if not run.program.streams:
        return None
    begin, end = run.step_bounds(step)
    turn = kernels_in(run, begin, end)
    is_waiting = not turn
    if is_waiting:
        turn = _next(run, end)
    arriving = _arriving(run, begin, end)
    leaving = _leaving(run, begin, end)
    sentence = _sentence(turn, is_waiting, arriving)
    if leaving:
        sentence += f"; leaving through the weight ports: {', '.join(leaving)}"
    return StreamingView(turn, is_waiting, arriving, leaving, sentence)


def kernels_in(run: Run, begin: int, end: int) -> tuple[str, ...]:
    """Return the kernels of which an instance lies in cycles [begin, end)."""
    timeline, kernels = run.timeline, run.program.kernels
    alive = (timeline.start < end) & (timeline.end > begin)
    rows = np.asarray(alive.any(axis=1))[: len(kernels)]
    return tuple(kernel.id for kernel, runs in zip(kernels, rows, strict=True) if runs)


def _next(run: Run, cycle: int) -> tuple[str, ...]:
    kernels = run.program.kernels
    starts = run.timeline.start[: len(kernels)]
    later = np.where(starts >= cycle, starts, np.iinfo(np.int64).max)
    row = int(later.min(axis=1).argmin()) if later.size else 0
    return (kernels[row].id,) if kernels and (starts >= cycle).any() else ()


def _arriving(run: Run, begin: int, end: int) -> tuple[ArrivalRow, ...]:
    first, rows = len(run.program.kernels), []
    for place, stream in enumerate(run.program.streams, first):
        starts, ends = run.timeline.start[place], run.timeline.end[place]
        for sample in np.flatnonzero((starts < end) & (ends > begin)).tolist():
            start, stop = int(starts[sample]), int(ends[sample])
            sent = stream.words * max(0, begin - start) // max(1, stop - start)
            rows.append(ArrivalRow(stream.kernel, sample, stream.words, sent, stop))
    return tuple(rows)


def _leaving(run: Run, begin: int, end: int) -> tuple[str, ...]:
    timeline, found = run.timeline, []
    for index in sorted(weight_transfers(run.program)):
        if index < len(run.program.transfers):
            chunks = slice(*timeline.chunk_start[index : index + 2])
            moving = (timeline.started[chunks] < end) & (timeline.left[chunks] > begin)
            if moving.any():
                found.append(run.program.transfers[index].tensor)
    return tuple(found)


def _sentence(turn: tuple[str, ...], is_waiting: bool, arriving: tuple[ArrivalRow, ...]) -> str:
    names = ", ".join(turn) or "no kernel"
    text = f"next: {names}" if is_waiting else f"turn of {names}"
    if not arriving:
        return f"{text}; no weights arrive"
    parts = [
        f"{row.kernel} for sample {row.sample} ({percent(row.sent / max(1, row.words))} of "
        f"{count(row.words)} wavelets sent)"
        for row in arriving
    ]
    return f"{text}; weights arrive: {', '.join(parts)}"
