"""The view of SRAM in program order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.finding.memory_order import stretches
from app.runs.run import Run
from app.views import build_memory
from app.views.build_memory import view_memory
from tests.app.sessions import mlp_run, mlp_streaming


def test_peak_is_the_highest_point_and_its_holders_sum_to_it() -> None:
    for run in (mlp_run(), mlp_streaming().run):
        view = view_memory(run)
        assert view.points[view.peak].live_bytes == view.live_bytes
        assert view.live_bytes == max(point.live_bytes for point in view.points)
        assert sum(row.held_bytes for row in view.rows) == view.live_bytes
        sizes = [row.held_bytes for row in view.rows]
        assert sizes == sorted(sizes, reverse=True)
        assert view.kernel in view.sentence
        assert view.severity == "ok"


def test_pes_of_a_kernel_are_shown_alone() -> None:
    run = mlp_run()
    view = view_memory(run, "fc1")
    assert {point.kernel for point in view.points} == {"fc1"}
    assert view.scope == "PEs of fc1"
    assert view_memory(run).live_bytes >= view.live_bytes


def test_many_points_are_reduced_and_keep_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    run = mlp_run()
    whole = view_memory(run)
    for most in (1, 2, 3, 5):
        monkeypatch.setattr(build_memory, "MOST_POINTS", most)
        view = view_memory(run)
        assert len(view.points) == most
        assert view.points[view.peak].live_bytes == whole.live_bytes


def test_a_program_that_does_not_fit_says_by_how_much() -> None:
    run = _short_of_memory(mlp_run())
    view = view_memory(run)
    short = max(s.allocated for s in stretches(run)) - view.capacity_bytes
    assert view.severity == "alert"
    assert f"short by {short:,} B" in view.sentence


def _short_of_memory(run: Run) -> Run:
    """Return the run with the SRAM of its machine cut below what it needs."""
    need = max(s.allocated for s in stretches(run))
    machine = replace(run.machine, sram_bytes=need - 10, reserved_sram_bytes=100)
    execution = replace(run.execution, program=replace(run.program, machine=machine))
    return replace(run, execution=execution)
