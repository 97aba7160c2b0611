"""Maps of the hand-written program: every metric against a walk over PEs and cycles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from engine.causes import CAUSES
from engine.fields import Fields
from engine.metrics import LINK_PLANES, METRICS
from engine.run import Execution, execute
from tests.factories.graphs import compiled_model
from tests.factories.programs import three_kernels

BUSY = ("compute", "overhead", "memory", "transfer")


@cache
def small() -> Execution:
    return three_kernels().run()


@cache
def model() -> Execution:
    compiled = compiled_model("mlp", "mesh-64x64")
    return execute(compiled.program, compiled.store)


@pytest.mark.parametrize(("size", "dtype"), [(2**31 - 1, np.int32), (2**31, np.int64)])
def test_a_what_if_of_gigabytes_a_pe_has_a_map(size: int, dtype: type) -> None:
    run = three_kernels().run()
    one = run.program.buffers[0]
    program = replace(run.program, buffers=(replace(one, offset=0, size=size),), would_run=False)
    fields = execute(program, run.store).fields
    for metric in ("sram_allocated", "sram_live"):
        assert fields.maximum(metric).dtype == dtype
    assert int(fields.field("sram_allocated", 0).max()) == size


def cause_by_cycle(run: Execution, row: int, col: int) -> list[str]:
    """Name the cause of one PE in every cycle of the run."""
    if (row, col) in run.program.machine.defects:
        return ["defective"] * run.timeline.makespan
    name = run.fields.kernel_at(row, col)
    if name is None:
        return ["unassigned"] * run.timeline.makespan
    index = [k.id for k in run.program.kernels].index(name)
    region = run.program.kernels[index].region
    parts = run.profiles[name].pe(row - region.row, col - region.col)
    inside = [cause for cause, cycles in zip(BUSY, parts, strict=True) for _ in range(cycles)]
    inside += ["imbalance"] * (run.profiles[name].length - len(inside))
    causes = [""] * run.timeline.makespan
    for start in run.timeline.start[index]:
        causes[start : start + len(inside)] = inside
    for at in np.flatnonzero(run.gaps.region == index):
        for cycle in range(run.gaps.t0[at], run.gaps.t1[at]):
            assert causes[cycle] == ""
            causes[cycle] = CAUSES[run.gaps.cause[at]]
    return causes


@cache
def cause_table() -> dict[tuple[int, int, int], dict[str, int]]:
    """Cycles by cause of (row, col, step), counted cycle by cycle."""
    run = small()
    table = {}
    for row, col in np.ndindex(run.fields.shape):
        causes = cause_by_cycle(run, row, col)
        for step in range(run.timeline.steps):
            t0, t1 = run.timeline.times[step : step + 2]
            cut = causes[t0:t1]
            table[row, col, step] = {name: cut.count(name) for name in set(cut)}
    return table


@pytest.mark.parametrize("cause", CAUSES[2:])
def test_share_of_a_cause_is_counted_cycle_by_cycle(cause: str) -> None:
    run, metric = small(), f"cause:{cause}"
    for step in range(run.timeline.steps):
        cycles = np.diff(run.timeline.times)[step]
        shares = run.fields.field(metric, step)
        assert shares.dtype == np.float32
        for row, col in np.ndindex(shares.shape):
            want = cause_table()[row, col, step].get(cause, 0) / cycles
            assert shares[row, col] == pytest.approx(want, abs=1e-6)


def test_utilization_is_the_share_of_compute() -> None:
    fields = small().fields
    for step in range(small().timeline.steps):
        np.testing.assert_array_equal(
            fields.field("utilization", step), fields.field("cause:compute", step)
        )


def test_dominant_cause_is_the_one_with_most_cycles() -> None:
    run = small()
    for step in range(run.timeline.steps):
        codes = run.fields.field("cause", step)
        for row, col in np.ndindex(codes.shape):
            counts = cause_table()[row, col, step]
            assert counts[CAUSES[codes[row, col]]] == max(counts.values())


def test_causes_of_a_pe_sum_to_the_step_and_to_the_run() -> None:
    run = small()
    for row, col in np.ndindex(run.fields.shape):
        totals: dict[str, int] = {}
        for step in range(run.timeline.steps):
            found = run.fields.pe_causes(row, col, step)
            assert found == cause_table()[row, col, step]
            for name, cycles in found.items():
                totals[name] = totals.get(name, 0) + cycles
        assert run.fields.pe_causes(row, col) == totals
        assert sum(totals.values()) == run.timeline.makespan


def test_words_of_a_step_are_those_on_the_way() -> None:
    run = small()
    step = run.timeline.step_at(161)
    assert run.timeline.times[step : step + 2].tolist() == [161, 169]
    south = np.zeros((8, 8), np.int32)
    south[0:3, 1:3] = [[8, 8], [8, 8], [4, 4]]
    np.testing.assert_array_equal(run.fields.words("link_south", step), south)
    loads = run.fields.field("link_south", step)
    assert loads.dtype == np.float32
    np.testing.assert_array_equal(loads[0:3, 1:3], [[1, 1], [1, 1], [0.5, 0.5]])
    assert run.fields.field("link_south", step + 1).sum() == 0


def test_words_over_the_run_are_patterns_times_samples() -> None:
    fields = small().fields
    east = np.zeros((8, 8), np.int64)
    east[0, 0:2] = 3 * 24  # x from the border
    east[2:4, 1:5] = [[12, 24, 24, 24]] * 2  # r, 8 words a row
    east[2:4, 5:7] = [[12, 12]] * 2  # y to the border
    np.testing.assert_array_equal(fields.total("link_east"), east)
    south, north = fields.total("link_south"), fields.total("link_north")
    assert (south[2, 5], north[3, 5]) == (3 * 4, 3 * 4)  # partial sums of `down`
    assert fields.total("link_west").sum() == 0
    np.testing.assert_array_equal(fields.total("traffic"), east + south + north)


@pytest.mark.parametrize("run", [small, model])
def test_steps_of_words_sum_to_the_run(run: Callable[[], Execution]) -> None:
    fields, steps = run().fields, run().timeline.steps
    for metric in ("traffic", *(f"link_{plane}" for plane in LINK_PLANES)):
        added = sum(fields.words(metric, step).astype(np.int64) for step in range(steps))
        np.testing.assert_array_equal(added, fields.total(metric))


@pytest.mark.parametrize("run", [small, model])
def test_steps_of_a_cause_sum_to_the_run(run: Callable[[], Execution]) -> None:
    fields, cycles = run().fields, np.diff(run().timeline.times)
    for metric in ("utilization", "cause:transfer", "cause:imbalance", "cause:fill", "cause:drain"):
        steps = range(len(cycles))
        added = sum(fields.field(metric, step).astype(np.float64) * cycles[step] for step in steps)
        np.testing.assert_allclose(added, fields.total(metric), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("run", [small, model])
@pytest.mark.parametrize("metric", [m for m in METRICS if METRICS[m].kind != "category"])
def test_sums_are_the_sums_of_the_maps(run: Callable[[], Execution], metric: str) -> None:
    fields, cycles = run().fields, np.diff(run().timeline.times)
    sums = fields.sums(metric)
    kind = METRICS[metric].kind
    for step in range(run().timeline.steps):
        whole = fields.field(metric, step).sum(dtype=np.float64)
        whole *= cycles[step] if kind in ("fraction", "load") else 1
        slack = run().fields.shape[0] ** 2 * len(fields.traffic.flows) if kind == "load" else 1e-3
        assert sums[step] == pytest.approx(whole, rel=1e-5, abs=slack)
    if kind == "load":
        assert sums.sum() == pytest.approx(float(fields.total(metric).sum()))


@pytest.mark.parametrize("metric", METRICS)
def test_step_forward_and_back_gives_the_same_map(metric: str) -> None:
    fields = model().fields
    before = fields.field(metric, 5).copy()
    fields.field(metric, 6)
    np.testing.assert_array_equal(fields.field(metric, 5), before)


@pytest.mark.parametrize("metric", METRICS)
def test_maximum_is_the_greatest_of_all_steps(metric: str) -> None:
    fields, steps = small().fields, small().timeline.steps
    greatest = np.max([fields.field(metric, step) for step in range(steps)], axis=0)
    np.testing.assert_allclose(fields.maximum(metric), greatest)
    assert fields.maximum(metric).dtype == fields.field(metric, 0).dtype


@pytest.mark.parametrize("metric", METRICS)
def test_range_holds_every_value_of_a_chain(metric: str) -> None:
    fields = small().fields
    low, high = fields.range(metric)
    assert low <= fields.maximum(metric).min()
    assert fields.maximum(metric).max() <= high


def test_peak_of_words_is_the_step_of_the_busiest_link() -> None:
    fields = small().fields
    sure = [
        fields.traffic.sure_plane("east", s).max() / cycles
        for s, cycles in enumerate(np.diff(small().timeline.times))
    ]
    assert fields.peak_step("link_east") == int(np.argmax(sure))
    live = [fields.field("sram_live", s).max() for s in range(small().timeline.steps)]
    assert fields.peak_step("sram_live") == int(np.argmax(live))


def test_one_pe_agrees_with_the_maps() -> None:
    fields = model().fields
    for step in range(0, model().timeline.steps, 7):
        for row, col in ((0, 0), (3, 5), (20, 30), (63, 63)):
            uses = fields.pe_links(row, col, step)
            for plane in LINK_PLANES:
                assert uses[plane].words == fields.words(f"link_{plane}", step)[row, col]
            live = sum(use.live for use in fields.pe_sram(row, col, step))
            assert live >= fields.field("sram_live", step)[row, col]


def test_hottest_link_is_the_maximum_of_all_planes() -> None:
    fields = model().fields
    step = fields.peak_step("traffic")
    row, col, plane, words, load = fields.hottest(step, 5)[0]
    assert words == max(int(fields.words(f"link_{p}", step).max()) for p in LINK_PLANES)
    assert fields.words(f"link_{plane}", step)[row, col] == words
    assert 0 < load <= 1
    whole = fields.hottest(None, 5)
    assert whole[0][3] == max(int(fields.total(f"link_{p}").max()) for p in LINK_PLANES)
    assert [use[3] for use in whole] == sorted((use[3] for use in whole), reverse=True)
    assert len(whole) == 5


def test_quiet_step_has_no_hot_link() -> None:
    run = small()
    assert run.fields.hottest(run.timeline.step_at(60), 5) == []


def test_unknown_metric_and_step_are_refused() -> None:
    fields: Fields = small().fields
    with pytest.raises(IndexError, match=r"step 99 is outside 0\.\."):
        fields.field("utilization", 99)
    with pytest.raises(KeyError):
        fields.field("heat", 0)


def test_changed_copy_counts_its_own_causes() -> None:
    fields = small().fields
    before = fields.cause_sums(CAUSES.index("compute")).sum()
    idle = {name: replace(p, cycles=p.cycles * 0) for name, p in fields.profiles.items()}
    changed = replace(fields, profiles=idle)
    assert changed.cause_sums(CAUSES.index("compute")).sum() == 0 < before
