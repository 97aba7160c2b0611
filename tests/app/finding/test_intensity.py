"""What a roofline compares, checked against the maps and the timeline."""

from __future__ import annotations

import numpy as np

from app.finding.intensity import kernel_work, run_work
from engine.geometry import Rect
from engine.transfers import Pattern
from tests.app.sessions import mlp_run, mlp_streaming, spilled_run
from tests.factories.worked import worked_run


def test_ramp_words_are_those_of_each_pe() -> None:
    run = mlp_run()
    program, flows = run.program, run.execution.fields.traffic.flows
    for work in kernel_work(run):
        region = program.kernel(work.kernel).region
        sides = {"deliver": 0, "inject": 0}
        for flow in flows:
            ends: dict[str, tuple[str, ...]] = dict.fromkeys(sides, (flow.name,))
            times = 1
            if not flow.is_kernel:
                transfer = program.transfers[flow.index]
                ends = {"deliver": transfer.consumers, "inject": (transfer.producer,)}
                times = transfer.chunks
            for pattern in flow.patterns:
                if work.kernel in ends.get(pattern.plane, ()):
                    sides[pattern.plane] += times * _by_pe(pattern, region)
        assert work.ramp_words == max(sides.values()) * program.samples


def _by_pe(pattern: Pattern, region: Rect) -> int:
    """Return the words of a pattern on the PEs of a region, one PE after the other."""
    total = 0
    for row in range(region.row, region.end_row):
        for col in range(region.col, region.end_col):
            line, place = (row, col) if pattern.axis == "x" else (col, row)
            is_on = pattern.lines_start <= line < pattern.lines_start + pattern.lines
            if is_on and pattern.start <= place < pattern.start + len(pattern.words):
                total += int(pattern.words[place - pattern.start])
    return total


def test_operations_and_cycles_of_all_samples() -> None:
    run = mlp_run()
    rows = {row.name: row for row in run.compiled.report.rows}
    for work in kernel_work(run):
        assert work.ops == rows[work.kernel].ops * run.program.samples
        assert work.inside_cycles == rows[work.kernel].cycles * run.program.samples
        assert work.inside_cycles <= work.cycles <= run.timeline.makespan


def test_own_cycles_of_the_worked_example() -> None:
    works = {work.kernel: work for work in kernel_work(worked_run(2, 2))}
    assert [works[name].cycles for name in ("k1", "k2", "k3")] == [40, 70, 55]


def test_turns_fill_a_streaming_run() -> None:
    run = mlp_streaming().run
    works = kernel_work(run)
    last = int(run.timeline.end[: len(works)].max())
    assert sum(work.cycles for work in works) == last
    words = {stream.kernel: stream.words for stream in run.program.streams}
    assert {work.kernel: work.weight_words for work in works} == {
        name: count * run.program.samples for name, count in words.items()
    }


def test_whole_run_is_the_sum_over_the_makespan() -> None:
    run = mlp_run()
    works = kernel_work(run)
    whole = run_work(run, works)
    assert whole.ops == sum(work.ops for work in works)
    assert whole.cycles == run.timeline.makespan
    assert whole.pes == int(np.sum([k.region.area for k in run.program.kernels]))


def test_activations_that_come_back_pass_the_ports_beside_weights() -> None:
    run = spilled_run()
    program, samples = run.program, run.program.samples
    words = {work.kernel: work.weight_words for work in kernel_work(run)}
    streams = {stream.kernel: stream.words for stream in program.streams}
    back = [t for t in program.transfers if t.comes_back]
    assert back
    for transfer in back:
        mine = [t for t in back if t.consumers == transfer.consumers]
        (reader,) = transfer.consumers
        assert words[reader] == samples * (
            streams.get(reader, 0) + sum(t.legs[0].words * t.chunks for t in mine)
        )
    whole = run_work(run, kernel_work(run))
    assert whole.weight_words == sum(words.values())
