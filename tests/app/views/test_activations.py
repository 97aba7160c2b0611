"""Lifetimes of activations: what each costs, what becomes of it, what lowers the peak."""

from __future__ import annotations

from functools import lru_cache

import pytest

from app.runs.run import Run, make_run
from app.units import size
from app.views import build_activations
from app.views.build_activations import view_activations
from engine.machine import generic_mesh
from lowering.cache import StageCache
from lowering.config import CompileConfig
from tests.app.sessions import mlp_run, mlp_streaming
from tests.factories.training import step_graph
from tests.lowering.test_spill import ladder


@lru_cache(maxsize=4)
def training_run(budget: str = "", optimizer: str = "wafer", spill_mb: float | None = None) -> Run:
    config = CompileConfig(
        machine=generic_mesh(32, 32), mode="streaming", optimizer=optimizer,
        activation_mb=float(budget) if budget else None, spill_mb=spill_mb,
    )  # fmt: skip
    return make_run(1, step_graph("gpt2_2l"), config, "gpt2_2l")


def test_rows_are_sorted_by_cost_and_agree_with_the_program() -> None:
    run = training_run()
    view = view_activations(run, StageCache())
    costs = [row.byte_turns for row in view.rows]
    assert costs == sorted(costs, reverse=True)
    assert sum(row.share for row in view.rows) == pytest.approx(1.0)
    order = [kernel.id for kernel in run.program.kernels]
    for row in view.rows:
        born, dead = order.index(row.made_by), order.index(row.last_read_by)
        assert row.tensor in run.program.kernels[born].writes
        assert row.tensor in run.program.kernels[dead].reads
        assert row.turns == dead - born + 1
        assert row.byte_turns == row.bytes * row.turns
        slots = [b.size for b in run.program.buffers
                 if b.name == row.tensor and b.role in ("in slot", "out slot")]  # fmt: skip
        assert row.pe_bytes == sum(slots) > 0
        assert row.tensor in row.sentence


def test_the_peak_turn_is_marked_and_holds_its_rows() -> None:
    view = view_activations(training_run(), StageCache())
    assert view.points[view.peak].bytes == view.peak_bytes == max(p.bytes for p in view.points)
    assert view.points[view.peak].turn == view.peak_turn
    assert view.points[view.peak].kernel == view.peak_kernel
    assert sum(row.bytes for row in view.rows if row.at_peak) == view.peak_bytes
    assert len(view.points) == view.turns
    assert view.peak_kernel in view.sentence


@pytest.mark.parametrize("optimizer", ["wafer", "host"])
def test_the_budget_that_is_proposed_lowers_the_peak_to_what_was_said(optimizer: str) -> None:
    before = view_activations(training_run("", optimizer), StageCache())
    assert f"activation_mb = {before.budget_mb} lowers it" in before.remedy
    after = view_activations(training_run(before.budget_mb, optimizer), StageCache())
    assert after.peak_bytes <= 1e6 * float(before.budget_mb) < before.peak_bytes
    assert f"at most {after.peak_bytes / 1024:,.1f} KB" in before.remedy
    assert after.budget_mb == ""
    assert "cannot lower it" in after.remedy


def test_what_is_kept_dropped_and_made_again_is_told_apart() -> None:
    plain = view_activations(training_run(), StageCache())
    fates = {row.fate for row in plain.rows}
    assert fates == {"kept", "passed on"}
    less = view_activations(training_run(plain.budget_mb), StageCache())
    found = {row.tensor: row.fate for row in less.rows}
    dropped = {name for name, fate in found.items() if fate == "dropped"}
    again = {name for name, fate in found.items() if fate == "made again"}
    assert dropped
    assert {f"{name}/again" for name in dropped} <= again
    kept = [sum(row.bytes for row in view.rows if row.fate == "kept") for view in (plain, less)]
    assert kept[1] < kept[0]


def test_inference_has_lifetimes_and_no_budget() -> None:
    view = view_activations(mlp_streaming().run, StageCache())
    assert view.rows
    assert {row.fate for row in view.rows} == {"passed on"}
    assert (view.remedy, view.budget_mb) == ("", "")


def test_a_pipeline_says_where_to_look() -> None:
    view = view_activations(mlp_run(), StageCache())
    assert (view.rows, view.points, view.peak_bytes) == ((), (), 0)
    assert "each kernel has PEs of its own" in view.sentence
    assert "'memory'" in view.sentence


def test_many_rows_and_points_are_cut_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    run = training_run()
    whole = view_activations(run, StageCache())
    monkeypatch.setattr(build_activations, "MOST_ROWS", 10)
    monkeypatch.setattr(build_activations, "MOST_POINTS", 7)
    view = view_activations(run, StageCache())
    assert view.rows == whole.rows[:10]
    assert view.more == len(whole.rows) - 10
    assert len(view.points) == 7
    assert view.points[view.peak].bytes == whole.peak_bytes


def test_what_waits_outside_is_told_with_its_traffic() -> None:
    run = training_run(spill_mb=0.0)
    view = view_activations(run, StageCache())
    outside = [row for row in view.rows if row.fate == "outside"]
    assert outside
    assert all(row.away > 0 for row in outside)
    assert f" and outside for {outside[0].away:,} in between " in outside[0].sentence
    assert view.traffic.startswith(f"{len(outside):,} of them wait outside")
    sizes = {row.tensor: row.bytes for row in outside}
    left = [t.tensor for t in run.program.transfers if t.leaves and t.tensor in sizes]
    assert len(left) < len(outside)  # views of one result leave once
    assert f"sends {size(sum(sizes[name] for name in left))} out" in view.traffic
    back = [t.tensor for t in run.program.transfers if t.comes_back]
    assert f"takes {size(sum(sizes[name] for name in back))} back" in view.traffic
    plain = view_activations(training_run(), StageCache())
    assert plain.traffic == ""
    assert {row.away for row in plain.rows} == {0}
    assert view.peak_bytes < plain.peak_bytes


def test_a_single_one_outside_is_told_as_one() -> None:
    config = CompileConfig(
        machine=generic_mesh(32, 32), mode="streaming", prefetch=0, storage="fp32",
        spill_mb=3 * 6 * 6 * 4 / 1e6,
    )  # fmt: skip
    view = view_activations(make_run(1, ladder(), config, "ladder"), StageCache())
    assert view.traffic.startswith("1 of them waits outside between turns: a sample sends 144 B ")
