"""Fitting a mesh into cells and drawing its marks, on meshes one can check on paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.session.cursor import Selection
from app.tui.glyphs import ALERT, BLOCKS, CURSOR, EDGE, OUTLINE, OUTSIDE, plain
from app.tui.picture import Fit, fit, paint
from app.views.map import HitMark, Outline
from tests.app.tui.factory import map_view

ASCII = plain("a test")


@pytest.mark.parametrize(
    ("rows", "cols", "high", "wide", "pixel_height", "expected"),
    [
        (4, 6, 20, 30, 1, Fit(4, 6, 5, 5)),  # five pixels a PE either way
        (4, 6, 20, 12, 1, Fit(4, 6, 2, 2)),  # the narrow side decides
        (994, 750, 116, 166, 1, Fit(111, 84, 1, 1)),  # 9 x 9 PEs a pixel
        (4, 6, 10, 30, 2, Fit(4, 6, 2, 4)),  # characters: twice as many across
        (10, 10, 5, 12, 2, Fit(5, 10, 1, 1)),  # characters: two rows share one
    ],
)
def test_pes_stay_square(
    rows: int, cols: int, high: int, wide: int, pixel_height: int, expected: Fit
) -> None:
    assert fit(rows, cols, high, wide, pixel_height) == expected


def test_map_is_zoomed_and_lies_in_the_middle() -> None:
    picture = paint(map_view([[0, 255]]), 4, 6, BLOCKS)
    out = OUTSIDE
    assert picture.codes.tolist() == [
        [0, 0, 0, 15, 15, 15],
        [0, 0, 0, 15, 15, 15],
        [0, 0, 0, 15, 15, 15],
        [out, out, out, out, out, out],
    ]


def test_pixels_and_pes_correspond_both_ways() -> None:
    picture = paint(map_view([[0] * 3] * 2, pool=(4, 4), row=8, col=12), 2, 5, BLOCKS)
    assert picture.pe_at(1, 3) == (12, 20)
    assert (picture.pixel_row(12), picture.cell(20)) == (1, 3)
    assert picture.pe_at(1, 0) is None
    assert picture.pe_at(2, 3) is None


def test_border_of_a_kernel_keeps_its_values() -> None:
    view = map_view([[255] * 5] * 5, outlines=(Outline("k", 0, 0, 5, 5, False, "ok"),))
    codes = paint(view, 5, 5, BLOCKS).codes
    assert (codes[0] == EDGE + 15).all()
    assert (codes[1:4, 1:4] == 15).all()


def test_small_kernels_get_no_border_unless_they_are_marked() -> None:
    small = Outline("k", 0, 0, 2, 2, False, "ok")
    assert (paint(map_view([[0] * 2] * 2, outlines=(small,)), 2, 2, BLOCKS).codes == 0).all()
    bad = Outline("k", 0, 0, 2, 2, False, "alert")
    assert (paint(map_view([[0] * 2] * 2, outlines=(bad,)), 2, 2, BLOCKS).codes == ALERT).all()


def test_a_small_chosen_kernel_keeps_its_values() -> None:
    chosen = Outline("k", 0, 0, 2, 2, True, "ok")
    marked = paint(map_view([[0, 255]] * 2, outlines=(chosen,)), 2, 2, BLOCKS)
    assert marked.codes.tolist() == [[EDGE, EDGE + 15]] * 2


def test_a_large_chosen_kernel_has_a_frame() -> None:
    chosen = Outline("k", 0, 0, 4, 4, True, "ok")
    codes = paint(map_view([[0] * 4] * 4, outlines=(chosen,)), 4, 4, BLOCKS).codes
    assert (codes[0] == OUTLINE).all()
    assert (codes[1:3, 1:3] == 0).all()


def test_characters_of_a_chosen_kernel_stay_and_are_marked() -> None:
    chosen = Outline("k", 0, 0, 4, 4, True, "ok")
    codes = paint(map_view([[255] * 4] * 4, outlines=(chosen,)), 2, 4, ASCII).codes
    assert (codes == EDGE + 9).all()


def test_cursor_fills_a_small_pe_and_frames_a_large_one() -> None:
    selection = Selection("pe", (0, 1))
    small = paint(map_view([[0, 0], [0, 0]], selection=selection), 2, 2, BLOCKS)
    assert small.codes.tolist() == [[0, CURSOR], [0, 0]]
    large = paint(map_view([[0, 0], [0, 0]], selection=selection), 8, 8, BLOCKS)
    assert large.codes[0, 4:].tolist() == [CURSOR] * 4
    assert large.codes[1:3, 5:7].tolist() == [[0, 0], [0, 0]]


def test_names_stand_where_they_fit() -> None:
    outlines = (
        Outline("first", 0, 0, 6, 8, False, "ok"),
        Outline("narrow", 0, 8, 6, 3, False, "ok"),
        Outline("much too long", 0, 11, 6, 9, True, "ok"),
    )
    labels = paint(map_view([[0] * 20] * 6, outlines=outlines), 6, 20, BLOCKS).labels
    assert [(label.x, label.text) for label in labels] == [(1, "first"), (12, "much t~")]
    assert {label.y for label in labels} == {1}


def test_characters_have_ten_levels_and_no_borders() -> None:
    outline = Outline("k", 0, 0, 5, 5, False, "ok")
    view = map_view([[255] * 5] * 5, outlines=(outline,))
    codes = paint(view, 3, 5, ASCII).codes
    assert (codes[codes != OUTSIDE] == 9).all()


def test_a_view_of_another_size_is_cut_while_the_screen_is_resized() -> None:
    outline = Outline("k", 0, 0, 40, 40, True, "ok")
    view = map_view([[0] * 40] * 40, outlines=(outline,), selection=Selection("pe", (39, 39)))
    codes = paint(view, 6, 8, BLOCKS).codes
    assert codes.shape == (6, 8)


def test_a_faint_value_never_looks_like_nothing() -> None:
    assert paint(map_view([[0, 1]] * 2), 1, 2, ASCII).codes.tolist() == [[0, 1]]
    assert paint(map_view([[0, 1]] * 2), 2, 2, BLOCKS).codes.tolist() == [[0, 1]] * 2


def test_what_stopped_the_run_has_a_border_around_its_pe() -> None:
    view = replace(map_view([[0] * 5] * 5), hit=HitMark(1, 2, "east", "why"))
    codes = paint(view, 5, 5, BLOCKS).codes
    assert (codes[:3, 1:4] == ALERT).sum() == 8
    assert (codes == ALERT).sum() == 8
    assert codes[1, 2] == 0
    plain_codes = paint(view, 5, 10, ASCII).codes
    assert (plain_codes >= EDGE).any()
    elsewhere = replace(view, hit=HitMark(9, 9, "", "why"))
    assert not (paint(elsewhere, 5, 5, BLOCKS).codes == ALERT).any()
