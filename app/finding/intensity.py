"""Operations, words and time of every kernel and of the run: what a roofline compares.

Words are those on the ramps of a kernel's own PEs, which the flows of a run already know; times are
read from the timeline. Knows no roofs and no screen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from app.runs.run import Run
from engine.geometry import Rect
from engine.program import Program, Transfer
from engine.traffic import Flow
from engine.transfers import Pattern


@dataclass(frozen=True, slots=True)
class Work:
    """What a kernel (or the run) did, summed over all samples."""

    kernel: str
    """empty for the whole run"""
    pes: int
    """working PEs that it had"""
    ops: int
    """floating-point operations"""
    ramp_words: int
    """wavelets over the busier side of its PEs' ramps: into the cores or out of them"""
    weight_words: int
    """distinct wavelets that come through the weight ports for it: weights, 0 where they are
    resident, and activations that waited outside"""
    cycles: int
    """that its PEs were its own: from its first word to its last; where kernels take turns, from
    the end of the turn before to the end of its own"""
    inside_cycles: int
    """cycles of its instances without stalls"""


def kernel_work(run: Run) -> tuple[Work, ...]:
    """Return every kernel's work, in program order."""
    program, samples = run.program, run.program.samples
    ops = {row.name: row.ops for row in run.compiled.report.rows}
    ramps = _ramp_words(run)
    weights = Counter({stream.kernel: stream.words for stream in program.streams})
    for transfer in program.transfers:
        if transfer.comes_back:
            weights[transfer.consumers[0]] += border_words(transfer)
    pes = [_working(run, rect) for rect, _ in program.areas()]
    cycles = _cycles(run)
    return tuple(
        Work(
            kernel.id, pes[place], ops.get(kernel.id, 0) * samples, ramps[index] * samples,
            weights[kernel.id] * samples, cycles[index],
            run.execution.profiles[kernel.id].length * samples,
        )
        for index, (kernel, place) in enumerate(
            zip(program.kernels, program.regions_of_kernels(), strict=True)
        )
    )  # fmt: skip


def border_words(transfer: Transfer) -> int:
    """Return the wavelets a sample of a transfer that crosses the border, on its first leg."""
    return sum(leg.words for leg in transfer.legs[:1]) * transfer.chunks


def run_work(run: Run, parts: tuple[Work, ...]) -> Work:
    """Return the work of the whole run on all PEs that have a kernel."""
    pes = sum(_working(run, rect) for rect, _ in run.program.areas())
    return Work(
        "", pes, sum(part.ops for part in parts), sum(part.ramp_words for part in parts),
        sum(part.weight_words for part in parts), run.timeline.makespan, run.timeline.makespan,
    )  # fmt: skip


def _working(run: Run, rect: Rect) -> int:
    rows, cols = range(rect.row, rect.end_row), range(rect.col, rect.end_col)
    return rect.area - sum(row in rows and col in cols for row, col in run.machine.defects)


def _ramp_words(run: Run) -> list[int]:
    """Return the wavelets a sample over the busier side of the ramps of each kernel's PEs."""
    program = run.program
    sides = {side: [0] * len(program.kernels) for side in ("deliver", "inject")}
    for flow in run.execution.fields.traffic.flows:
        for side, words in sides.items():
            patterns = [pattern for pattern in flow.patterns if pattern.plane == side]
            for index, times in _owners(program, flow, side):
                region = program.kernels[index].region
                words[index] += times * sum(_words_inside(p, region) for p in patterns)
    return [max(pair) for pair in zip(*sides.values(), strict=True)]


def _owners(program: Program, flow: Flow, side: str) -> list[tuple[int, int]]:
    """Return (kernel, times that the patterns pass in a sample) of those that a flow concerns.

    What is delivered concerns its readers, what is injected its producer.
    """
    times = 1
    if flow.is_kernel and flow.index < len(program.kernels):
        return [(flow.index, times)]
    if flow.is_kernel:
        stream = program.streams[flow.index - len(program.kernels)]
        ends: tuple[str, ...] = (stream.kernel,) if side == "deliver" else ()
    else:
        transfer = program.transfers[flow.index]
        ends = transfer.consumers if side == "deliver" else (transfer.producer,)
        times = transfer.chunks
    return [(index, times) for index, kernel in enumerate(program.kernels) if kernel.id in ends]


def _words_inside(pattern: Pattern, region: Rect) -> int:
    """Return the words of a pattern on the PEs of a region."""
    lines, along = (region.row, region.end_row), (region.col, region.end_col)
    if pattern.axis == "y":
        lines, along = along, lines
    last_line = min(lines[1], pattern.lines_start + pattern.lines)
    count = max(0, last_line - max(lines[0], pattern.lines_start))
    cut = slice(max(0, along[0] - pattern.start), max(0, along[1] - pattern.start))
    return count * int(pattern.words[cut].sum())


def _cycles(run: Run) -> list[int]:
    found = [0] * len(run.program.kernels)
    for _, kernels in run.program.areas():
        if len(kernels) == 1:
            found[kernels[0]] = _own_cycles(run, kernels[0])
        else:
            for index, cycles in zip(kernels, _turn_cycles(run, kernels), strict=True):
                found[index] = cycles
    return found


def _own_cycles(run: Run, index: int) -> int:
    """Return the cycles from a kernel's first word to its last, its instances included."""
    timeline, name = run.timeline, run.program.kernels[index].id
    first, last = int(timeline.start[index].min()), int(timeline.end[index].max())
    for place, transfer in enumerate(run.program.transfers):
        mine = slice(*timeline.chunk_start[place : place + 2])
        if name in transfer.consumers:
            first = min(first, int(timeline.started[mine].min()))
        if name == transfer.producer:
            last = max(last, int(timeline.left[mine].max()))
    return max(1, last - first)


def _turn_cycles(run: Run, kernels: tuple[int, ...]) -> list[int]:
    """Return the cycles of each kernel's turns: from the end of one turn to that of the next."""
    ends = run.timeline.end[[*kernels]]
    flat = ends.ravel()
    order = np.argsort(flat, kind="stable")
    turns = np.empty_like(flat)
    turns[order] = np.diff(flat[order], prepend=0)
    return [max(1, int(cycles)) for cycles in turns.reshape(ends.shape).sum(axis=1)]
