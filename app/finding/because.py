"""Why a region waited: all that tied, each with the knob that acts on it. Read from `because`.

Names what the event engine recorded; decides nothing about what is idle. Knows no screen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.finding.decisions import end_name, source_name
from app.runs.run import Run
from engine.causes import CAUSES
from engine.event_kinds import ARRIVES, END, GIVEN, LEFT, MOVES, NEEDED, RESUME, START
from engine.program import HOST
from engine.timing.net import is_weight_transfer


@dataclass(frozen=True, slots=True)
class Gap:
    """A span in which a region does not work."""

    kernel: int
    """place in the program of the kernel that waits, -1 in a drain"""
    sample: int
    t0: int
    """first cycle of the wait"""
    t1: int
    """first cycle after it"""
    cause: str
    """as shown"""
    underlying: str
    """the wait below a fill, else the same"""


@dataclass(frozen=True, slots=True)
class Tie:
    """One of the things that a wait ended with."""

    cause: str
    transfer: str
    """transfer waited for, empty for none"""
    lever: str
    """in_slots | out_slots | producer | fabric | host | weights | region: what acts on it"""
    sentence: str


def gap_at(run: Run, kernel: str, step: int) -> Gap | None:
    """Return the wait of a kernel's region in a step, None while it works."""
    return region_gap(run, next(i for i, o in enumerate(run.program.order) if kernel in o), step)


def region_gap(run: Run, region: int, step: int) -> Gap | None:
    """Return the wait of a region in a step, None while a kernel works on it."""
    start, _ = run.step_bounds(step)
    gaps = run.execution.gaps
    found = np.flatnonzero((gaps.region == region) & (gaps.t0 <= start) & (start < gaps.t1))
    return _gap(run, int(found[0])) if len(found) else None


def kernel_gaps(run: Run, kernel: str, cause: str | None = None) -> tuple[Gap, ...]:
    """Return the waits of a kernel, the longest first; only those of a cause if one is given."""
    index = [k.id for k in run.program.kernels].index(kernel)
    gaps = run.execution.gaps
    mine = np.flatnonzero(gaps.kernel == index)
    found = [_gap(run, int(place)) for place in mine]
    kept = [gap for gap in found if cause is None or gap.cause == cause]
    return tuple(sorted(kept, key=lambda gap: (gap.t0 - gap.t1, gap.t0)))


def _gap(run: Run, place: int) -> Gap:
    gaps = run.execution.gaps
    return Gap(
        int(gaps.kernel[place]), int(gaps.sample[place]), int(gaps.t0[place]),
        int(gaps.t1[place]), CAUSES[gaps.cause[place]], CAUSES[gaps.underlying[place]],
    )  # fmt: skip


def ties(run: Run, gap: Gap) -> tuple[Tie, ...]:
    """Return everything that a wait waited for last; more than one when they tie."""
    event = _end_of(run, gap)
    if event < 0:
        return ()
    found = [tie for source in _before(run, event) if (tie := _tie(run, gap, source)) is not None]
    order = {cause: code for code, cause in enumerate(CAUSES)}
    return tuple(sorted(dict.fromkeys(found), key=lambda tie: (order[tie.cause], tie.transfer)))


def _end_of(run: Run, gap: Gap) -> int:
    """Return the start or resume that follows a wait, -1 for none (the wait may have two parts)."""
    timeline = run.timeline
    mine = (timeline.event_subject == gap.kernel) & (timeline.event_sample == gap.sample)
    mine &= np.isin(timeline.event_kind, (START, RESUME)) & (timeline.event_time >= gap.t1)
    found = np.flatnonzero(mine)
    return int(found[0]) if len(found) and gap.kernel >= 0 else -1


def _before(run: Run, event: int) -> list[int]:
    timeline = run.timeline
    return [int(e) for e in timeline.because[slice(*timeline.because_start[event : event + 2])]]


def _tie(run: Run, gap: Gap, source: int) -> Tie | None:
    timeline = run.timeline
    kind, subject = int(timeline.event_kind[source]), int(timeline.event_subject[source])
    time, sample = int(timeline.event_time[source]), int(timeline.event_sample[source])
    if kind == END:
        name = run.program.kernels[subject].id
        return Tie(
            "wait-input", "", "region",
            f"{name} has the region until cycle {time:,} (sample {sample})",
        )  # fmt: skip
    if kind not in (LEFT, ARRIVES):
        return None
    transfers = run.program.transfers
    back = subject < len(transfers) and transfers[subject].comes_back
    if is_weight_transfer(run.program, subject) and not back:
        return _weights(run, subject, sample, time)
    if subject >= len(transfers):
        return None
    transfer = transfers[subject]
    if kind == LEFT:
        text = (
            f"no out slot for '{transfer.tensor}': its chunk of sample {sample} leaves for "
            f"{_readers(transfer.consumers)} only by cycle {time:,}"
        )
        return Tie("wait-output", transfer.id, "out_slots", text)
    return _arrival(run, gap, source)


def _weights(run: Run, subject: int, sample: int, time: int) -> Tie:
    """Return a wait for the weight ports: for what comes in, or for state to leave."""
    transfers = run.program.transfers
    if subject < len(transfers):
        tensor = transfers[subject].tensor
        text = f"'{tensor}' of sample {sample} has left through the weight ports at cycle {time:,}"
        return Tie("wait-weights", transfers[subject].id, "weights", text)
    stream = run.program.streams[subject - len(transfers)]
    began = int(run.timeline.start[len(run.program.kernels) + subject - len(transfers), sample])
    text = (
        f"the weights of {stream.kernel} for sample {sample} arrive at cycle {time:,}, through the "
        f"ports since {began:,}"
    )
    return Tie("wait-weights", stream.id, "weights", text)


def _readers(names: tuple[str, ...]) -> str:
    return ", ".join(map(end_name, names))


def _arrival(run: Run, gap: Gap, source: int) -> Tie:
    timeline = run.timeline
    index, time = int(timeline.event_subject[source]), int(timeline.event_time[source])
    transfer, sample = run.program.transfers[index], int(timeline.event_sample[source])
    chunk = int(timeline.event_chunk[source])
    place = int(timeline.chunk_start[index]) + sample * transfer.chunks + chunk
    given, moved = int(timeline.given[place]), int(timeline.started[place])
    cause = "wait-fabric" if given <= gap.t0 else "wait-input"
    if transfer.comes_back:
        cause = "wait-weights"
    elif transfer.producer == HOST:
        cause = "wait-host"
    which = f"chunk {chunk} of '{transfer.tensor}'" if transfer.chunks > 1 else (
        f"'{transfer.tensor}'"
    )  # fmt: skip
    text = f"{which} of sample {sample} arrives from {source_name(transfer)} at cycle {time:,}"
    if transfer.comes_back:
        return Tie(cause, transfer.id, "weights",
                   f"{text}, through the weight ports since {moved:,}")  # fmt: skip
    if moved > given:
        held, lever = _held_back(run, source)
        return Tie(cause, transfer.id, lever, f"{text}: given at {given:,}, it moved from "
                                              f"{moved:,} on, when {held}")  # fmt: skip
    if cause == "wait-host" and run.program.loader and given > gap.t0:
        return Tie(cause, transfer.id, "host", f"{text}; the host had decoded it by {given:,}")
    if cause == "wait-host":
        return Tie(cause, transfer.id, "host", f"{text}, moving since {moved:,}")
    if cause == "wait-input":
        return Tie(cause, transfer.id, "producer", f"{text}; it was given only at {given:,}")
    return Tie(cause, transfer.id, "fabric", f"{text}, under way since {moved:,}")


def _held_back(run: Run, arrival: int) -> tuple[str, str]:
    """Return (what let the chunk of an arrival move at last, the lever on it)."""
    timeline = run.timeline
    moves = arrival
    for kind in (LEFT, MOVES):
        moves = next((e for e in _before(run, moves) if timeline.event_kind[e] == kind), moves)
    for event in _before(run, moves):
        kind, subject = int(timeline.event_kind[event]), int(timeline.event_subject[event])
        sample = int(timeline.event_sample[event])
        if kind in (END, NEEDED):
            reader = subject if kind == END else int(timeline.use_kernel[subject])
            if reader >= len(run.program.kernels):
                continue
            name = run.program.kernels[reader].id
            return f"{name} gave an in slot back (sample {sample})", "in_slots"
        if kind == LEFT:
            return f"the chunk before it had left (sample {sample})", "fabric"
        if kind == GIVEN:
            return "it was given", "producer"
    return "the way was free", "fabric"


def levers_sentence(found: tuple[Tie, ...]) -> str:
    """Say whether one lever can help, or only all together; empty without ties."""
    acting = tuple(dict.fromkeys(tie.lever for tie in found))
    if len(found) < 2:
        return ""
    names = [{"in_slots": "in slots", "out_slots": "out slots"}.get(name, name) for name in acting]
    if len(acting) < 2:
        return f"{len(found)} things tie; {names[0]} act on each of them"
    return (
        f"{len(found)} things tie: {' and '.join(names)} must change together, "
        "one alone gains nothing here"
    )
