"""The map: quantised, pooled, with its legend in the metric's unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.runs.map_metrics import MAP_METRICS, map_field
from app.session import moves, places
from app.session.cursor import Cursor
from app.views.build_map import view_map
from app.views.map import Scale, code_levels, levels, positions
from engine.causes import CAUSES
from tests.app.sessions import mlp_run


def _cursor(metric: str, step: int = 9) -> Cursor:
    return replace(moves.start(mlp_run()), metric=metric, step=step)


@pytest.mark.parametrize("metric", MAP_METRICS)
def test_codes_give_the_values_back(metric: str) -> None:
    view = view_map(mlp_run(), _cursor(metric), 64, 64)
    field = map_field(mlp_run(), metric, 9)
    error = np.abs(view.values * view.scale.unit_per_code - field).max()
    slack = {"fraction": 0.5 / 255, "load": 0.5 * view.scale.unit_per_code}
    assert error <= slack.get(MAP_METRICS[metric].kind, 0) + 1e-6
    assert view.pool_text == ""


def test_pooled_map_names_its_pooling_and_keeps_the_maximum() -> None:
    view = view_map(mlp_run(), _cursor("sram_allocated"), 10, 10)
    assert view.values.shape == (10, 10)
    assert view.pool_text == "max of 7x7 PEs"
    assert view.values.max() == mlp_run().execution.fields.field("sram_allocated", 9).max()


def test_scale_is_the_same_in_every_step() -> None:
    scales = {view_map(mlp_run(), _cursor("traffic", s), 8, 8).scale for s in (0, 5, 20)}
    assert len(scales) == 1


def test_legend_speaks_the_metrics_unit() -> None:
    texts = {m: [t.text for t in view_map(mlp_run(), _cursor(m), 8, 8).ticks]
             for m in ("utilization", "sram_live", "traffic", "cause")}  # fmt: skip
    assert texts["utilization"] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert texts["sram_live"][-1] == "48 KB of 48"
    assert texts["traffic"] == ["0/cycle", "1/cycle", "2/cycle", "3/cycle", "4/cycle"]
    assert texts["cause"] == list(CAUSES)


def test_kernels_that_run_are_named_whatever_their_size() -> None:
    run = mlp_run()
    begins = int(run.timeline.start[0, 0])
    step = int(run.timeline.step_at(begins))
    assert view_map(run, _cursor("utilization", step), 1, 1).running == ("fc0",)
    assert view_map(run, _cursor("utilization", 0), 1, 1).running == ()


def test_load_is_told_with_the_wavelets_behind_it() -> None:
    run = mlp_run()
    step = run.execution.fields.peak_step("link_east")
    words = int(run.execution.fields.words("link_east", step).max())
    sentence = view_map(run, _cursor("link_east", step), 8, 8).sentence
    assert "wavelets a cycle at PE (" in sentence
    assert f"({words:,} wavelets in this step)" in sentence


def test_outlines_are_clipped_to_the_viewport() -> None:
    run = mlp_run()
    region = run.region("fc1")
    cursor = places.set_viewport(run, _cursor("cause"), region.row + 2, region.col + 3, 4, 5).cursor
    outline = next(o for o in view_map(run, cursor, 9, 9).outlines if o.name == "fc1")
    assert (outline.row, outline.col) == (region.row + 2, region.col + 3)
    assert (outline.rows, outline.cols) == (4, 5)


def test_log_scale_lifts_small_values_and_keeps_the_ends() -> None:
    linear, log = Scale(0, 1000, 1, False), Scale(0, 1000, 1, True)
    values = np.array([0, 10, 1000])
    assert positions(values, linear).tolist() == [0, 0.01, 1]
    lifted = positions(values, log)
    assert (lifted[0], lifted[2]) == (0, 1)
    assert lifted[1] > 0.3


def test_levels_fill_the_range_asked_for() -> None:
    codes = np.array([[0, 127, 255]], np.uint8)
    assert code_levels(codes, Scale(0, 1, 1 / 255, False), "fraction", 16).tolist() == [[0, 7, 15]]
    view = view_map(mlp_run(), _cursor("cause"), 64, 64)
    np.testing.assert_array_equal(levels(view, 16), view.values)


def test_faint_value_stays_visible() -> None:
    from app.runs.frames import encode

    codes = encode(np.array([[0.0, 1e-5]], np.float32), Scale(0, 1, 1 / 255, False), "fraction")
    assert codes.tolist() == [[0, 1]]


def test_program_that_does_not_fit_marks_its_numbers() -> None:
    run = mlp_run()
    program = replace(run.program, would_run=False)
    execution = replace(run.execution, program=program)
    view = view_map(replace(run, execution=execution), _cursor("traffic"), 8, 8)
    assert view.standing.startswith("would not run")
