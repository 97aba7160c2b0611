"""From a map view to pixel codes on an area of cells. Pure functions; knows no widgets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.session.cursor import Viewport
from app.tui.difference import KIND, difference_levels
from app.tui.glyphs import ALERT, CURSOR, EDGE, OUTLINE, OUTSIDE, Glyphs
from app.views.map import HitMark, MapView, Outline, levels

_LEAST_OUTLINE = 4
"""pixels of a side from which an outline leaves enough of the inside to read"""
_LEAST_NAME = 4
"""cells from which the beginning of a name says something"""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a rectangle of PEs fills an area, PEs square."""

    ask_rows: int
    """most pixel rows to ask the map for"""
    ask_cols: int
    zoom_rows: int
    """pixels a PE is high, 1 where PEs share pixels"""
    zoom_cols: int


@dataclass(frozen=True, slots=True)
class Label:
    """A name on the map."""

    y: int
    """cell row"""
    x: int
    """first cell"""
    text: str
    selected: bool
    severity: str


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A map drawn to pixels, and how pixels and PEs correspond."""

    codes: np.ndarray
    """uint8 (pixel rows, cells wide): level, EDGE + level, or a mark"""
    labels: tuple[Label, ...]
    """at most a few a cell row, not overlapping, by x"""
    viewport: Viewport
    top: int
    """pixel rows above the map"""
    left: int
    """cells left of it"""
    rows: int
    """pixel rows of the map itself"""
    cols: int
    pes_down: int
    """PE rows of one unzoomed pixel"""
    pes_across: int
    zoom_rows: int
    zoom_cols: int

    def pe_at(self, pixel_row: int, cell: int) -> tuple[int, int] | None:
        """Return the north-west PE of a pixel, None beside the map."""
        row, col = pixel_row - self.top, cell - self.left
        if not (0 <= row < self.rows and 0 <= col < self.cols):
            return None
        return (
            self.viewport.row + row // self.zoom_rows * self.pes_down,
            self.viewport.col + col // self.zoom_cols * self.pes_across,
        )

    def pixel_row(self, row: int) -> int:
        """Return the first pixel row of a PE row of the viewport."""
        return self.top + (row - self.viewport.row) // self.pes_down * self.zoom_rows

    def cell(self, col: int) -> int:
        """Return the first cell of a PE column of the viewport."""
        return self.left + (col - self.viewport.col) // self.pes_across * self.zoom_cols


def fit(rows: int, cols: int, high: int, wide: int, pixel_height: int) -> Fit:
    """Fit rows x cols PEs into high x wide pixels, each `pixel_height` times as high as wide."""
    high, wide = max(1, high), max(1, wide)
    side = min(high * pixel_height // rows, wide // cols)
    if side >= pixel_height:
        zoom = side // pixel_height
        return Fit(rows, cols, zoom, zoom * pixel_height)
    block = max(-(-rows // (high * pixel_height)), -(-cols // wide))
    return Fit(-(-rows // (block * pixel_height)), -(-cols // block), 1, 1)


def paint(view: MapView, high: int, wide: int, glyphs: Glyphs) -> Picture:
    """Draw a view that was asked for with `fit` into high x wide pixels, in the middle."""
    plan = fit(view.viewport.rows, view.viewport.cols, high, wide, glyphs.pixel_height)
    pixels = difference_levels(view.values) if view.kind == KIND else levels(view, glyphs.levels)
    if view.kind not in ("category", KIND):  # what is faint must not look like nothing
        pixels = np.maximum(pixels, (view.values > 0).astype(np.uint8))
    pixels = pixels.repeat(plan.zoom_rows, axis=0).repeat(plan.zoom_cols, axis=1)[:high, :wide]
    rows, cols = pixels.shape
    step = 1 if glyphs.is_ascii else 2
    top, left = (high - rows) // 2 // step * step, (wide - cols) // 2
    codes = np.full((high, wide), OUTSIDE, np.uint8)
    codes[top : top + rows, left : left + cols] = pixels
    picture = Picture(
        codes, (), view.viewport, top, left, rows, cols, view.pool_rows, view.pool_cols,
        plan.zoom_rows, plan.zoom_cols,
    )  # fmt: skip
    return _with_marks(picture, view, glyphs)


def _with_marks(picture: Picture, view: MapView, glyphs: Glyphs) -> Picture:
    ordered = sorted(view.outlines, key=lambda outline: outline.selected)
    for outline in ordered:
        _draw_outline(picture, outline, glyphs)
    labels = _labels(picture, ordered, 1 if glyphs.is_ascii else 2)
    if view.hit is not None and view.viewport.rect.contains(view.hit.row, view.hit.col):
        _draw_hit(picture, view.hit, glyphs)
    place = view.selection.pe
    if place is not None and view.viewport.rect.contains(*place):
        _draw_cursor(picture, *place)
    return Picture(
        picture.codes, labels, picture.viewport, picture.top, picture.left, picture.rows,
        picture.cols, picture.pes_down, picture.pes_across, picture.zoom_rows, picture.zoom_cols,
    )  # fmt: skip


def _box(picture: Picture, row: int, col: int, rows: int, cols: int) -> tuple[int, int, int, int]:
    """Return first and last pixel row, first and last cell of a rectangle of PEs.

    They lie in the area even while a view of another size is shown, as after a resize.
    """
    high, wide = picture.codes.shape
    south = picture.pixel_row(row + rows - 1) + picture.zoom_rows - 1
    east = picture.cell(col + cols - 1) + picture.zoom_cols - 1
    return (
        min(picture.pixel_row(row), high - 1),
        min(south, high - 1),
        min(picture.cell(col), wide - 1),
        min(east, wide - 1),
    )


def _draw_outline(picture: Picture, outline: Outline, glyphs: Glyphs) -> None:
    """Draw a border: a mark where there is room for one, else on top of the values."""
    north, south, west, east = _box(picture, outline.row, outline.col, outline.rows, outline.cols)
    is_alert = outline.severity != "ok"
    is_large = min(south - north, east - west) + 1 >= _LEAST_OUTLINE
    if not (outline.selected or is_alert or (is_large and not glyphs.is_ascii)):
        return
    mark = EDGE
    if not glyphs.is_ascii:
        mark = OUTLINE if outline.selected and is_large else ALERT if is_alert else EDGE
    for part in (
        picture.codes[north, west : east + 1], picture.codes[south, west : east + 1],
        picture.codes[north : south + 1, west], picture.codes[north : south + 1, east],
    ):  # fmt: skip
        if mark == EDGE:
            part[part < EDGE] += EDGE
        else:
            part[:] = mark


def _draw_hit(picture: Picture, hit: HitMark, glyphs: Glyphs) -> None:
    """Draw a border around the PE that stopped the run, one pixel wide, outside of the cursor."""
    north, south, west, east = _box(picture, hit.row, hit.col, 1, 1)
    block = picture.codes[max(0, north - 1) : south + 2, max(0, west - 1) : east + 2]
    inside = picture.codes[north : south + 1, west : east + 1].copy()
    if glyphs.is_ascii:
        block[block < EDGE] += EDGE
    else:
        block[:] = ALERT
    picture.codes[north : south + 1, west : east + 1] = inside


def _draw_cursor(picture: Picture, row: int, col: int) -> None:
    north, south, west, east = _box(picture, row, col, 1, 1)
    block = picture.codes[north : south + 1, west : east + 1]
    inside = block[1:-1, 1:-1].copy()
    block[:] = CURSOR
    if min(block.shape) >= _LEAST_OUTLINE:
        block[1:-1, 1:-1] = inside


def _labels(picture: Picture, outlines: list[Outline], pixels: int) -> tuple[Label, ...]:
    """Place names inside regions where they fit; `pixels` is the pixel rows of a cell."""
    taken: set[tuple[int, int]] = set()
    labels = []
    for outline in reversed(outlines):
        north, south, west, east = _box(
            picture, outline.row, outline.col, outline.rows, outline.cols
        )
        y = -(-(north + 1) // pixels)
        room = east - west - 1
        if (y + 1) * pixels - 1 > south or room < _LEAST_NAME:
            continue
        text = outline.name if len(outline.name) <= room else outline.name[: room - 1] + "~"
        cells = {(y, west + 1 + index) for index in range(-1, len(text) + 1)}
        if not taken & cells:
            taken |= cells
            labels.append(Label(y, west + 1, text, outline.selected, outline.severity))
    return tuple(sorted(labels, key=lambda label: (label.y, label.x)))
