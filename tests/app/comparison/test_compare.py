"""Two runs compared: figures with their direction, kernels by name, steps by progress."""

from __future__ import annotations

from functools import lru_cache

import pytest

from app.comparison.compare import (
    changed_knobs,
    compare_causes,
    compare_figures,
    compare_notes,
    make_row,
    match_kernels,
    progress_at,
    tied_step,
)
from app.runs.opening import open_run
from app.runs.run import Run
from app.views.build_compare import view_compare
from lowering.config import CompileConfig, apply_knob
from tests.app.sessions import mesh_config, mlp_run


@lru_cache(maxsize=8)
def changed(name: str, value: str, kernel: str | None = None, side: int = 64) -> Run:
    """The mlp demo's run with one knob turned."""
    config = apply_knob(mesh_config(side, 4), name, value, kernel=kernel)
    return open_run(0, "mlp", config, {}).run


def test_direction_says_better_or_worse() -> None:
    assert make_row("x", "cycles", 100, 90, -1).verdict == "better"
    assert make_row("x", "cycles", 100, 90, 1).verdict == "worse"
    assert make_row("x", "cycles", 100, 90, 0).verdict == "changed"
    row = make_row("x", "cycles", 100, 100, -1)
    assert (row.verdict, row.texts) == ("same", ("100", "100", "same"))
    assert make_row("x", "cycles", 200, 90, -1).texts[2] == "-110 (-55.0 %)"
    assert make_row("x", "cycles", 0, 90, -1).percent is None
    assert make_row("u", "fraction", 0.25, 0.5, 1).texts == ("25.0 %", "50.0 %", "+25.0 points")
    assert make_row("s", "bytes", 2048, 1024, -1).texts[2] == "-1.0 KB (-50.0 %)"


def test_run_against_itself_is_the_same_everywhere() -> None:
    run = mlp_run()
    rows = (*compare_figures(run, run), *compare_causes(run, run))
    assert {row.verdict for row in rows} == {"same"}
    assert {kernel.state for kernel in match_kernels(run, run)} == {"same"}
    view = view_compare(run, run, 5)
    assert (view.step_a, view.knobs, view.notes) == (5, (), ())
    assert view.sentence.startswith("equal knobs: makespan 1,")
    assert view.sentence.endswith("no kernel moved")


def test_figures_are_those_of_the_runs() -> None:
    a, b = mlp_run(), changed("pe_cap", "40", "fc1")
    rows = {row.name: row for row in compare_figures(a, b)}
    assert (rows["makespan"].a, rows["makespan"].b) == (a.timeline.makespan, b.timeline.makespan)
    assert rows["makespan"].verdict == "worse"
    assert rows["throughput"].verdict == "worse"
    assert rows["PEs"].verdict == "changed"
    causes = compare_causes(a, b)
    assert sum(row.a for row in causes) == pytest.approx(1)
    assert sum(row.b for row in causes) == pytest.approx(1)


def test_kernels_are_matched_by_name() -> None:
    a, b = mlp_run(), changed("pe_cap", "40", "fc1")
    changes = {kernel.name: kernel for kernel in match_kernels(a, b)}
    assert changes["fc1"].state == "shrunk"
    assert "shrunk from 64x10 to" in changes["fc1"].sentence
    region = b.region("fc1")
    assert changes["fc1"].region_b == (region.row, region.col, region.rows, region.cols)
    back = {kernel.name: kernel for kernel in match_kernels(b, a)}
    assert back["fc1"].state == "grown"


def test_kernels_that_are_new_or_gone() -> None:
    a, b = mlp_run(), changed("fusion", "none")
    states = [kernel.state for kernel in match_kernels(a, b)]
    assert states.count("new") == len(b.program.kernels) - 3
    assert [kernel.state for kernel in match_kernels(b, a)][-1] == "gone"
    gone = match_kernels(b, a)[-1]
    assert (gone.region_b, gone.cycles_b, gone.sram_b) == (None, None, None)


def test_steps_are_tied_by_progress() -> None:
    a, b = mlp_run(), changed("pe_cap", "40", "fc1")
    for step in range(0, b.timeline.steps, 3):
        share = progress_at(b, step)
        start, end = a.step_bounds(tied_step(a, share))
        assert start <= share * a.timeline.makespan < end + 1
    assert tied_step(a, 1.0) == a.timeline.steps - 1


def test_knobs_that_differ_are_named() -> None:
    base = CompileConfig()
    turned = apply_knob(apply_knob(base, "samples", 9), "pe_cap", 4, kernel="fc1")
    assert changed_knobs(base, turned) == (
        ("samples", "auto", "9"), ("pe_cap@fc1", "auto", "4"),
    )  # fmt: skip


@pytest.mark.parametrize("samples", ["4", "2"])
def test_modes_are_compared_by_throughput_where_samples_differ(samples: str) -> None:
    a = mlp_run()
    config = apply_knob(apply_knob(mesh_config(64, 4), "mode", "streaming"), "samples", samples)
    b = open_run(0, "mlp", config, {}).run
    assert (a.program.mode, b.program.mode) == ("pipeline", "streaming")
    view = view_compare(a, b)
    rows = {row.name: row for row in view.rows}
    assert rows["makespan"].verdict == ("worse" if samples == "4" else "changed")
    assert rows["throughput"].verdict == "worse"
    assert rows["peak SRAM"].b == max(row.sram_bytes for row in b.compiled.report.rows)
    causes = {row.name: row for row in view.causes}
    assert causes["wait-weights"].a == 0 < causes["wait-weights"].b
    assert ("mode", "pipeline", "streaming") in view.knobs
    kernels = {kernel.name for kernel in view.kernels}
    assert kernels == {kernel.id for kernel in a.program.kernels}
    assert all(kernel.state not in ("new", "gone") for kernel in view.kernels)


def test_notes_warn_of_what_cannot_be_compared() -> None:
    a = mlp_run()
    notes = compare_notes(a, changed("samples", "2"))
    assert notes == ("A sends 4 samples, B 2: compare throughput, not the makespan",)
    (note,) = compare_notes(a, changed("clock_hz", "2e9"))
    assert note.startswith("clocks differ (0.85 and 2 GHz)")
    other = open_run(0, "cnn", mesh_config(64, 4), {}).run
    assert "A is 'mlp', B is 'cnn': two models" in compare_notes(a, other)


def test_what_if_is_noted_and_stands_first() -> None:
    a, b = mlp_run(), changed("sram_bytes", "4200")
    assert not b.program.would_run
    view = view_compare(a, b)
    assert view.standing == "would not run"
    assert any("B does not fit its machine" in note for note in view.notes)
