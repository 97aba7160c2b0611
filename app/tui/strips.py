"""From a picture to lines of styled text, runs of equal cells merged. Knows no widgets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from app.tui.glyphs import EDGE, OUTSIDE, Glyphs, pair_style
from app.tui.picture import Label, Picture

GUTTER = 6
"""cells left of the map for row numbers"""

_FAINT = Style(dim=True)
_BRIGHT = Style(bold=True)
_NAME = Style(color="#e8ecf2", bgcolor="#14181f")
_NAME_SELECTED = Style(color="#000000", bgcolor="#ffffff", bold=True)
_NAME_ALERT = Style(color="#00e5ff", bgcolor="#14181f", bold=True)
_REVERSED = Style(reverse=True)
_PLAIN = Style()


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """How pixel codes become cells."""

    glyphs: Glyphs
    table: np.ndarray
    """packed colour of each code, int64 (64,)"""
    letters: str
    """character of each code where there is no colour"""


def map_line(picture: Picture, y: int, ink: Ink) -> list[Segment]:
    """Return the segments of cell row `y` of the map."""
    labels = [label for label in picture.labels if label.y == y]
    segments: list[Segment] = []
    at = 0
    for label in labels:
        segments += _cells(picture, y, at, label.x, ink)
        segments.append(Segment(label.text, _label_style(label, ink.glyphs)))
        at = label.x + len(label.text)
    return segments + _cells(picture, y, at, picture.codes.shape[1], ink)


def _cells(picture: Picture, y: int, start: int, end: int, ink: Ink) -> list[Segment]:
    if end <= start:
        return []
    if ink.glyphs.is_ascii:
        return _characters(picture.codes[y, start:end], ink)
    codes = picture.codes
    upper = codes[2 * y, start:end]
    lower = codes[min(2 * y + 1, len(codes) - 1), start:end]
    front, back = ink.table[upper], ink.table[lower]
    bounds = _bounds((front << 24) | back)
    fronts, backs = front[bounds[:-1]].tolist(), back[bounds[:-1]].tolist()
    return [
        Segment((" " if f == b else "▀") * int(length), pair_style(f, b))
        for f, b, length in zip(fronts, backs, np.diff(bounds).tolist(), strict=True)
    ]


def _characters(codes: np.ndarray, ink: Ink) -> list[Segment]:
    keys = ((codes >= EDGE) & (codes != OUTSIDE)).astype(np.int64)
    bounds = _bounds(keys)
    text = "".join(ink.letters[code] for code in codes.tolist())
    return [
        Segment(text[a:b], _REVERSED if keys[a] else _PLAIN)
        for a, b in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)
    ]


def _bounds(keys: np.ndarray) -> np.ndarray:
    """Return where runs of equal keys start, and the length."""
    return np.concatenate(([0], np.flatnonzero(np.diff(keys)) + 1, [len(keys)]))


def _label_style(label: Label, glyphs: Glyphs) -> Style:
    if glyphs.is_ascii:
        return _REVERSED if label.selected else _BRIGHT
    if label.selected:
        return _NAME_SELECTED
    return _NAME if label.severity == "ok" else _NAME_ALERT


def gutter(picture: Picture, y: int, selected: int | None, glyphs: Glyphs) -> Segment:
    """Return the row number of a cell row where one is due, marked at the selected PE's row."""
    pixels = 1 if glyphs.is_ascii else 2
    if selected is not None:
        row = picture.pixel_row(selected)
        if picture.top <= row < picture.top + picture.rows and row // pixels == y:
            return Segment(f"{selected:>{GUTTER - 1}}{glyphs.row_mark}", _BRIGHT)
    pitch = _pitch(4 * pixels, picture.zoom_rows)
    starts = range(picture.top, picture.top + picture.rows, pitch)
    due = next((start for start in starts if start // pixels == y), None)
    place = picture.pe_at(due, picture.left) if due is not None else None
    return Segment(f"{place[0]:>{GUTTER - 1}} " if place else " " * GUTTER, _FAINT)


def ruler(picture: Picture, selected: int | None, glyphs: Glyphs) -> Strip:
    """Return the line of column numbers, marked at the selected PE's column."""
    length = picture.codes.shape[1] + GUTTER
    cells = [" "] * length
    mark, at = "", length
    if selected is not None and picture.left <= picture.cell(selected) < (
        picture.left + picture.cols
    ):
        mark = f"{glyphs.column_mark}{selected}"
        at = min(GUTTER + picture.cell(selected), length - len(mark))
    for cell in range(picture.left, picture.left + picture.cols, _pitch(12, picture.zoom_cols)):
        place = picture.pe_at(picture.top, cell)
        text = f"{glyphs.tick}{place[1]}" if place else ""
        first, last = GUTTER + cell, GUTTER + cell + len(text)
        if last <= length and (last < at or first > at + len(mark)):
            cells[first:last] = text
    line = "".join(cells)
    parts = [Segment(line[:at], _FAINT)]
    if mark:
        parts += [Segment(mark, _BRIGHT), Segment(line[at + len(mark) :], _FAINT)]
    return Strip(parts, length)


def _pitch(least: int, zoom: int) -> int:
    """Return the smallest multiple of `zoom` that is at least `least`."""
    return -(-least // zoom) * zoom
