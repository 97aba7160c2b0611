"""Differences PE by PE: both signs, grids of two sizes, codes around the middle."""

from __future__ import annotations

import numpy as np
import pytest

from app.commands import CommandError
from app.comparison.difference import codes_of, difference, pool_extremes, regrid
from app.views.build_compare import view_difference
from tests.app.comparison.test_compare import changed
from tests.app.sessions import mlp_run


def test_equal_runs_differ_nowhere() -> None:
    view = view_difference(mlp_run(), mlp_run(), "utilization", 64, 64)
    assert set(view.values.ravel().tolist()) == {128}
    assert view.sentence.endswith("every PE is equal")
    assert view.limit == 0
    assert [tick.text for tick in view.ticks] == ["equal"]


def test_difference_is_b_less_a_in_shares_of_each_run() -> None:
    a, b = mlp_run(), changed("pe_cap", "40", "fc1")
    found = difference(a, b, "utilization")
    expected = (
        b.execution.fields.total("utilization") / b.timeline.makespan
        - a.execution.fields.total("utilization") / a.timeline.makespan
    )
    np.testing.assert_allclose(found.field, expected)
    back = difference(b, a, "utilization")
    np.testing.assert_allclose(back.field, -found.field)
    assert found.unit == "% of run"


def test_words_are_a_sample_s_and_bytes_the_highest() -> None:
    a, b = mlp_run(), changed("samples", "2")
    words = difference(a, b, "traffic")
    assert words.unit == "wavelets/sample"
    assert np.abs(words.field).max() == 0
    sram = difference(a, changed("slots", "4"), "sram_allocated")
    assert sram.unit == "bytes"
    assert sram.field.max() > 0


def test_step_of_either_run_can_be_compared() -> None:
    a, b = mlp_run(), changed("pe_cap", "40", "fc1")
    found = difference(a, b, "utilization", (3, 4))
    expected = b.execution.fields.field("utilization", 4).astype(float)
    expected -= a.execution.fields.field("utilization", 3)
    np.testing.assert_allclose(found.field, expected)
    assert found.steps == (3, 4)


def test_grids_of_two_sizes_meet_on_the_smaller() -> None:
    a, b = mlp_run(), changed("samples", "4", None, 128)
    found = difference(a, b, "utilization")
    assert found.field.shape == (64, 64)
    assert "64x64 and 128x128 PEs" in found.remark
    assert "pooled by mean to 64x64" in found.remark
    share = b.execution.fields.total("utilization") / b.timeline.makespan
    assert np.isclose(
        found.field.mean(),
        share.mean() - (a.execution.fields.total("utilization") / a.timeline.makespan).mean(),
    )


def test_regrid_by_hand() -> None:
    field = np.arange(12.0).reshape(3, 4)
    assert regrid(field, (3, 2), "fraction").tolist() == [[0.5, 2.5], [4.5, 6.5], [8.5, 10.5]]
    assert regrid(field, (2, 2), "bytes").tolist() == [[1, 3], [9, 11]]
    assert regrid(field, (3, 4), "words") is field


def test_pixel_shows_the_largest_difference_of_either_sign() -> None:
    field = np.array([[1.0, -3.0, 0.0], [2.0, 0.0, 5.0], [-1.0, 0.0, 0.0]])
    pooled, rows, cols = pool_extremes(field, 2, 2)
    assert pooled.tolist() == [[-3.0, 5.0], [-1.0, 0.0]]
    assert (rows, cols) == (2, 2)
    assert pool_extremes(field, 3, 9)[0] is field


def test_codes_have_their_middle_at_equal() -> None:
    codes = codes_of(np.array([-2.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 2.0]), 2.0)
    assert codes.tolist() == [0, 64, 127, 128, 129, 192, 255]
    assert not codes.flags.writeable


def test_view_is_pooled_and_outlined() -> None:
    a, b = mlp_run(), changed("pe_cap", "40", "fc1")
    view = view_difference(a, b, "utilization", 32, 16)
    assert view.values.shape == (32, 16)
    assert (view.pool_rows, view.pool_cols) == (2, 4)
    assert [line.name for line in view.outlines] == ["fc0", "fc1", "scores"]
    assert view.ticks[0].text.startswith("-")
    assert view.ticks[-1].text.startswith("+")
    assert view.ticks[2].text == "equal"
    assert "lower on" in view.sentence


def test_category_and_unknown_metrics_are_refused() -> None:
    with pytest.raises(CommandError, match="the dominant cause has no difference"):
        difference(mlp_run(), mlp_run(), "cause")
    with pytest.raises(CommandError, match="there is no metric 'heat'"):
        difference(mlp_run(), mlp_run(), "heat")
