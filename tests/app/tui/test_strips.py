"""Lines of the map: half-blocks, merged runs, characters, rulers."""

from __future__ import annotations

from rich.segment import Segment

from app.session.cursor import Selection
from app.tui.glyphs import BLOCKS, Glyphs, colours, letters, plain
from app.tui.picture import Picture, paint
from app.tui.strips import Ink, gutter, map_line, ruler
from tests.app.tui.factory import map_view

ASCII = plain("a test")


def ink(glyphs: Glyphs, categories: tuple[str, ...] = ()) -> Ink:
    return Ink(glyphs, colours("viridis", False), letters(categories))


def painted(codes: list[list[int]], glyphs: Glyphs, high: int, wide: int) -> Picture:
    return paint(map_view(codes), high, wide, glyphs)


def colours_of(segment: Segment) -> tuple[str, str]:
    style = segment.style
    assert style is not None
    assert style.color is not None
    assert style.bgcolor is not None
    return style.color.name, style.bgcolor.name


def test_a_cell_shows_two_pes_one_above_the_other() -> None:
    (segment,) = map_line(painted([[0], [255]], BLOCKS, 2, 1), 0, ink(BLOCKS))
    assert segment.text == "▀"
    assert colours_of(segment) == ("#440154", "#fde725")


def test_equal_neighbours_are_one_segment_and_equal_halves_a_space() -> None:
    picture = painted([[0, 0, 0, 255], [0, 0, 0, 0]], BLOCKS, 2, 4)
    assert [s.text for s in map_line(picture, 0, ink(BLOCKS))] == ["   ", "▀"]


def test_at_most_sixteen_colours_show_values() -> None:
    picture = painted([list(range(0, 256, 2))] * 2, BLOCKS, 2, 128)
    seen = {colours_of(segment)[0] for segment in map_line(picture, 0, ink(BLOCKS))}
    assert len(seen) == 16


def test_characters_rise_with_the_value() -> None:
    picture = painted([[0, 60, 128, 255]] * 2, ASCII, 1, 4)
    assert "".join(s.text for s in map_line(picture, 0, ink(ASCII))) == " :+@"


def test_causes_are_letters_without_colour() -> None:
    names = ("defective", "unassigned", "compute")
    picture = paint(map_view([[0, 1, 2]] * 2, categories=names), 1, 3, ASCII)
    assert "".join(s.text for s in map_line(picture, 0, ink(ASCII, names))) == "x #"


def test_rulers_number_rows_and_columns_and_mark_the_cursor() -> None:
    view = map_view([[0] * 24] * 16, row=40, col=100, selection=Selection("pe", (47, 113)))
    picture = paint(view, 16, 24, BLOCKS)
    assert gutter(picture, 0, None, BLOCKS).text == "   40 "
    assert gutter(picture, 1, None, BLOCKS).text.strip() == ""
    assert gutter(picture, 3, 47, BLOCKS).text == "   47▶"
    text = ruler(picture, 113, BLOCKS).text
    assert text.startswith(" " * 6 + "┆100")
    assert text.index("▼113") == 6 + 13
    assert "┆112" not in text


def test_ruler_numbers_enlarged_pes_at_their_first_cell() -> None:
    picture = painted([[0, 0], [0, 0]], BLOCKS, 40, 40)
    text = ruler(picture, None, BLOCKS).text
    assert (text.index("┆0"), text.index("┆1")) == (6, 26)
