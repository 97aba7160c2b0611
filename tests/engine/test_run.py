"""A hand-written Program end to end: its cycles against paper, its laws, its deadlock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.progress import Cancelled, Progress
from engine.run import ProgramDeadlock, execute, replay
from tests.factories.programs import UP, three_kernels


def test_instances_start_and_end_where_paper_says() -> None:
    timeline = three_kernels().run().timeline
    assert timeline.start.tolist() == [[30, 161, 292], [176, 307, 438], [211, 342, 473]]
    assert timeline.end.tolist() == [[161, 292, 423], [195, 326, 457], [279, 410, 541]]
    assert timeline.makespan == 551
    assert timeline.stall_kernel.size == 0


def test_one_slot_delays_the_host_but_not_the_slow_kernel_twice() -> None:
    timeline = three_kernels(slots=1).run().timeline
    # the next x waits until `up` has ended (its only slot is free), then moves 24 and travels 6
    assert timeline.start[0].tolist() == [30, 161 + 30, 2 * 161 + 30]
    assert timeline.makespan == 30 + 2 * 161 + (551 - 292)


def test_every_law_holds() -> None:
    ledger = three_kernels().run().ledger
    assert [check.name for check in ledger.checks if not check.ok] == []
    assert len(ledger.checks) == 7
    assert ledger.ok


def test_bottleneck_is_the_longest_kernel() -> None:
    verdict = three_kernels().run().bottleneck
    assert (verdict.kernel, verdict.kind) == ("up", "overhead")
    assert verdict.bound_cycles == 3 * UP
    assert "'up' holds 71%" in verdict.sentence  # 393 of 551


def test_replayed_timeline_gives_the_same_run() -> None:
    small = three_kernels()
    first = small.run()
    again = replay(small.program, small.store, first.timeline, every_step=True)
    for metric in ("utilization", "traffic", "sram_live"):
        np.testing.assert_array_equal(first.fields.total(metric), again.fields.total(metric))
    assert again.ledger == first.ledger


def test_same_program_gives_the_same_arrays() -> None:
    first, second = (three_kernels().run().timeline.to_arrays() for _ in range(2))
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


def test_region_that_waits_for_itself_is_named() -> None:
    small = three_kernels()
    program = replace(small.program, order=(("up",), ("down", "act")))
    with pytest.raises(ProgramDeadlock, match=r"'act'.*'down'|'down'.*'act'") as caught:
        execute(program, small.store)
    assert "knobs slots, max_chunks" in str(caught.value)


def test_run_stops_when_asked() -> None:
    small = three_kernels()
    with pytest.raises(Cancelled):
        execute(small.program, small.store, Progress(cancelled=lambda: True))
