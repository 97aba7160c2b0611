"""From a streaming run and a step to whose turn it is. A pure function; no screen.

The timeline holds a row for each kernel, then a row for each weight stream.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from app.finding.because import gap_at
from app.runs.run import Run
from app.units import percent, size
from app.views.build_phases import Tensors, flow_of, turn_phases
from app.views.streaming import ArrivalRow, LeavingRow, StreamingView
from engine.program import HOST

_TOLD = 2
"""arrivals that the sentence names"""


def view_streaming(run: Run, step: int) -> StreamingView | None:
    """Return whose turn it is and what arrives; None for a run without weight streams."""
    if not run.program.streams:
        return None
    begin, end = run.step_bounds(step)
    turn = _instances_in(run, begin, end)
    is_waiting = not turn
    if is_waiting:
        turn = _next(run, end)
    tensors = {tensor.id: tensor for tensor in run.program.tensors}
    own = [run.program.kernels[kernel] for kernel, _ in turn]
    names = tuple(dict.fromkeys(kernel.id for kernel in own))
    training = ", ".join(dict.fromkeys(dict(kernel.tags).get("phase", "") for kernel in own))
    phases = tuple(
        phase
        for kernel, sample in turn
        for phase in turn_phases(run, tensors, kernel, sample, (begin, end))
    )
    arriving = tuple(sorted(_arriving(run, tensors, begin, end), key=lambda row: row.cycles_left))
    leaving = tuple(sorted(_leaving(run, tensors, begin, end), key=lambda row: row.cycles_left))
    waits_for = _missing(run, names[0], step) if is_waiting and names else ""
    headline = _headline(names, is_waiting, waits_for or training)
    quiet = _quiet(run, begin, arriving)
    parts = [headline, quiet, _listed("weights arrive", arriving, weights=True),
             _listed("also", arriving, weights=False), _tensors(leaving)]  # fmt: skip
    return StreamingView(
        names, is_waiting, waits_for, training, phases, arriving, leaving, headline, quiet,
        run.standing, "; ".join(part for part in parts if part),
    )  # fmt: skip


def kernels_in(run: Run, begin: int, end: int) -> tuple[str, ...]:
    """Return the kernels of which an instance lies in cycles [begin, end)."""
    names = (run.program.kernels[kernel].id for kernel, _ in _instances_in(run, begin, end))
    return tuple(dict.fromkeys(names))


def _instances_in(run: Run, begin: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return (kernel, sample) of the instances that lie in cycles [begin, end)."""
    count = len(run.program.kernels)
    alive = (run.timeline.start[:count] < end) & (run.timeline.end[:count] > begin)
    return tuple(
        (int(kernel), int(sample)) for kernel, sample in zip(*alive.nonzero(), strict=True)
    )


def _next(run: Run, cycle: int) -> tuple[tuple[int, int], ...]:
    """Return (kernel, sample) of the next instance to start, none after the last."""
    starts = run.timeline.start[: len(run.program.kernels)]
    if not (starts >= cycle).any():
        return ()
    later = np.where(starts >= cycle, starts, np.iinfo(np.int64).max)
    kernel, sample = np.unravel_index(int(later.argmin()), later.shape)
    return ((int(kernel), int(sample)),)


def _missing(run: Run, kernel: str, step: int) -> str:
    gap = gap_at(run, kernel, step)
    return "" if gap is None else gap.underlying


def _arriving(run: Run, tensors: Tensors, begin: int, end: int) -> Iterator[ArrivalRow]:
    program, timeline = run.program, run.timeline
    rows = slice(len(program.kernels), len(program.kernels) + len(program.streams))
    first = int(timeline.chunk_start[len(program.transfers)])
    starts, ends = timeline.start[rows], timeline.end[rows]
    there = timeline.arrived[first : first + starts.size].reshape(starts.shape)
    moving = (starts < end) & (there > begin)
    for place, sample in zip(*(axis.tolist() for axis in moving.nonzero()), strict=True):
        stream = program.streams[place]
        start, stop = int(starts[place, sample]), int(ends[place, sample])
        passed = min(begin, stop) - min(begin, start)
        sent = stream.words * passed // max(1, stop - start)
        times = stop, int(there[place, sample]) - begin
        yield _arrival(run, stream.kernel, "weights", sample, stream.words, sent, times)
    for index, sample in _moving(run, begin, end, from_host=True):
        transfer = program.transfers[index]
        flow = flow_of(run, tensors, index, sample, begin)
        words = -(-flow.bytes // program.machine.wavelet_bytes)
        what = "activation" if transfer.comes_back else "input"
        yield _arrival(
            run, ", ".join(transfer.consumers), f"{what} {transfer.tensor}", sample, words,
            int(words * flow.share), (flow.left, flow.end - begin),
        )  # fmt: skip


def _arrival(
    run: Run, kernel: str, what: str, sample: int, words: int, sent: int, times: tuple[int, int]
) -> ArrivalRow:
    each = run.machine.wavelet_bytes
    told = f"{what} for {kernel}, sample {sample}: {_progress(sent * each, words * each, times[1])}"
    return ArrivalRow(
        kernel, what, sample, words, sent, words * each, sent * each, sent / max(1, words), *times,
        told,
    )  # fmt: skip


def _progress(done: int, total: int, cycles_left: int) -> str:
    return f"{size(done)} of {size(total)}, {cycles_left:,} cycles left"


def _leaving(run: Run, tensors: Tensors, begin: int, end: int) -> Iterator[LeavingRow]:
    outside = {name for work in run.program.outside for name in work.reads}
    away = run.program.waiting
    for index, sample in _moving(run, begin, end, from_host=False):
        transfer = run.program.transfers[index]
        flow = flow_of(run, tensors, index, sample, begin)
        what = _kind(transfer.tensor, outside, away)
        sent, left = int(flow.bytes * flow.share), flow.end - begin
        yield LeavingRow(
            transfer.producer, transfer.tensor, what, sample, flow.bytes, sent, flow.share, left,
            f"{what} {transfer.tensor} leaves: {_progress(sent, flow.bytes, left)}",
        )  # fmt: skip


def _kind(tensor: str, gradients: Collection[str], away: Collection[str]) -> str:
    """Return what leaves: an activation comes back, a gradient is used outside."""
    if tensor in away:
        return "activation"
    return "gradient" if tensor in gradients else "new state"


def _quiet(run: Run, cycle: int, arriving: tuple[ArrivalRow, ...]) -> str:
    """Say that no weights arrive and which will next, empty while some do."""
    if any(row.what == "weights" for row in arriving):
        return ""
    first = len(run.program.kernels)
    starts = run.timeline.start[first : first + len(run.program.streams)]
    if not (starts > cycle).any():
        return "no weights arrive (all have)"
    later = np.where(starts > cycle, starts, np.iinfo(np.int64).max)
    place, sample = np.unravel_index(int(later.argmin()), later.shape)
    wait, kernel = int(starts[place, sample]) - cycle, run.program.streams[place].kernel
    return f"no weights arrive (those of {kernel} for sample {sample} in {wait:,} cycles)"


def _moving(run: Run, begin: int, end: int, *, from_host: bool) -> Iterator[tuple[int, int]]:
    """Give (transfer, sample) of what comes from the host, or leaves by the weight ports."""
    timeline, transfers = run.timeline, run.program.transfers
    chunks = slice(0, int(timeline.chunk_start[len(transfers)]))
    moving = (timeline.started[chunks] < end) & (timeline.left[chunks] > begin)
    places = np.flatnonzero(moving)
    owners = np.searchsorted(timeline.chunk_start, places, "right") - 1
    within = places - timeline.chunk_start[owners]
    found = {
        (owner, place // transfers[owner].chunks)
        for owner, place in zip(owners.tolist(), within.tolist(), strict=True)
        if (transfers[owner].producer == HOST if from_host else transfers[owner].leaves)
    }
    yield from sorted(found)


def _headline(turn: tuple[str, ...], is_waiting: bool, remark: str) -> str:
    names = ", ".join(turn) or "no kernel"
    text = f"next: {names}" if is_waiting else f"turn of {names}"
    return f"{text} ({remark})" if remark else text


def _listed(name: str, arriving: tuple[ArrivalRow, ...], *, weights: bool) -> str:
    """Name the first few arrivals, of weights or of all else; empty without any."""
    rows = [row for row in arriving if (row.what == "weights") == weights]
    parts = [
        f"{'' if weights else row.what + ' for '}{row.kernel} for sample {row.sample} "
        f"({percent(row.share)} of {size(row.bytes)} in, {row.cycles_left:,} cycles left)"
        for row in rows[:_TOLD]
    ]
    more = f" and {len(rows) - _TOLD:,} more" if len(rows) > _TOLD else ""
    return f"{name}: {', '.join(parts)}{more}" if rows else ""


def _tensors(leaving: tuple[LeavingRow, ...]) -> str:
    if not leaving:
        return ""
    return f"leaving through the weight ports: {', '.join(row.tensor for row in leaving)}"
