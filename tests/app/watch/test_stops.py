"""Stops: the PE, the buffer, the transfer and the compiler decision behind, down to the nodes."""

from __future__ import annotations

import numpy as np

from app.runs.run import Run
from app.views.breaks import StopView
from app.watch.breaks import Breakpoint, check, find_stop, hit_at
from app.watch.stops import view_stop
from tests.app.sessions import spilled_run
from tests.factories.worked import with_values, worked_run

RUN = worked_run(1, 1)


def _back(run: Run, text: str, step: int) -> StopView:
    hit, _ = find_stop(run, [Breakpoint(1, "watch", check(run, text))], step, -1)
    assert hit is not None
    return view_stop(run, hit)


def test_live_sram_names_buffer_transfer_and_decision() -> None:
    stop = _back(RUN, "sram >= 200", RUN.timeline.steps - 1)
    assert (stop.cycle, stop.kernel, stop.pe) == (15, "k2", (0, 1))
    assert stop.evidence == (
        "200 B live on k2's fullest PE (was 100 B); out slot 'h2' grew by 100 B to 100 B",
    )
    assert [(row.level, row.name) for row in stop.chain] == [
        ("buffer", "h2"), ("route", "h2"), ("placement", "k2"), ("fusion", "k2"),
        ("source", "node2"),
    ]  # fmt: skip
    assert "1 slot of 100 B (slots asked for: 1)" in stop.chain[0].sentence


def test_a_link_over_90_percent_names_transfer_and_both_ends() -> None:
    stop = _back(RUN, "link > 90%", int(RUN.timeline.step_at(41)))
    assert stop.cycle == 35  # h1 and h2 move their next chunks [35, 40)
    assert stop.kernel == "k1"
    assert stop.also == ("k2", "k3")
    assert (stop.pe, stop.plane) == ((0, 0), "east")
    assert "link east of PE (0, 0) carries 1 wavelets a cycle" in stop.evidence[0]
    route = stop.chain[0]
    assert (route.level, route.name) == ("route", "h1")
    assert "shift of 5 wavelets along rows 0..0, cols 0..0 to 1..1 on color 0" in route.sentence


def test_a_wait_names_what_is_waited_for() -> None:
    stop = _back(RUN, "waiting > 5", RUN.timeline.steps - 1)
    assert (stop.cycle, stop.kernel) == (75, "k3")
    assert "waits: wait-input, for 'h2' of k2, 10 cycles so far, sample 2" in stop.evidence[0]


def test_values_name_the_tensor() -> None:
    run = with_values(RUN, h1=np.array([1.0, np.nan]), h2=np.ones(2))
    stop = _back(run, "nan", run.timeline.steps - 1)
    assert (stop.cycle, stop.kernel) == (10, "k1")
    assert "k1 has ended sample 0: 'h1' holds 1 to 1 and NaN" in stop.evidence[0]


def test_a_region_under_a_share_names_the_wait() -> None:
    stop = _back(RUN, "utilization < 50% and kernel == k2", int(RUN.timeline.step_at(66)))
    assert (stop.cycle, stop.kernel) == (60, "k2")
    assert "utilization of k2's region is 0.0 %" in stop.evidence[0]
    stop = _back(RUN, "utilization(0, 1) < 50%", int(RUN.timeline.step_at(66)))
    assert (stop.kernel, stop.pe) == ("k2", (0, 1))


def test_a_step_has_its_label() -> None:
    stop = view_stop(RUN, hit_at(RUN, check(RUN, "step == 4"), 4, 7))
    assert stop.kernel is None
    assert stop.evidence == (RUN.label(4),)
    assert stop.sentence.startswith("breakpoint 7 (step == 4) turned true, step 4, cycle 35")


def test_a_wait_for_the_weight_ports_says_what_they_carry() -> None:
    run = spilled_run()
    hits = [Breakpoint(1, "watch", check(run, "waiting > 5"))]
    stops, step = [], -1
    while (hit := find_stop(run, hits, step, 1)[0]) is not None:
        stops.append(view_stop(run, hit).evidence[0])
        step = hit.step
    back = {t.tensor for t in run.program.transfers if t.comes_back}
    assert any(f"for '{name}' from outside, " in text for text in stops for name in back)
    assert any("to leave through the weight ports, " in text for text in stops)
    assert not any("of the host" in text for text in stops if "wait-weights" in text)


def test_a_wait_where_kernels_take_turns_is_that_of_the_next_one() -> None:
    run = spilled_run()
    gaps = run.execution.gaps
    for text in ("waiting > 5", "cause == wait-weights"):
        hits, step = [Breakpoint(1, "watch", check(run, text))], -1
        while (hit := find_stop(run, hits, step, 1)[0]) is not None:
            step, cycle = hit.step, run.step_bounds(hit.step)[0]
            (place,) = np.flatnonzero((gaps.region == 0) & (gaps.t0 <= cycle) & (cycle < gaps.t1))
            waits = run.program.kernels[int(gaps.kernel[place])].id
            assert view_stop(run, hit).evidence[0].startswith(f"{waits} waits: ")
            if text.startswith("waiting"):
                assert view_stop(run, hit).kernel == waits
        assert step > 0
