"""The map as a widget: draws the last view, repaints only lines that changed, reports clicks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from app.tui.arrows import with_arrows
from app.tui.glyphs import Glyphs, letters
from app.tui.picture import Picture, paint
from app.tui.strips import GUTTER, Ink, gutter, map_line, ruler
from app.views.map import MapView


class MapWidget(Widget):
    """One metric over the mesh, two PEs (or blocks of PEs) a cell where there are colours."""

    @dataclass
    class Picked(Message):
        """A PE was clicked."""

        row: int
        col: int

    @dataclass
    class Sized(Message):
        """The room for the map changed: other pixels are needed."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="map")
        self._glyphs = glyphs
        self._view: MapView | None = None
        self._picture: Picture | None = None
        self._strips: list[Strip] = []

    @property
    def pixels(self) -> tuple[int, int]:
        """(high, wide) pixels there is room for"""
        rows = max(1, self.size.height - 1)
        wide = max(1, self.size.width - GUTTER)
        return (rows if self._glyphs.is_ascii else 2 * rows), wide

    @property
    def view(self) -> MapView | None:
        """what is shown"""
        return self._view

    def relight(self, glyphs: Glyphs) -> None:
        """Draw with other colours from now on."""
        self._glyphs, self._strips = glyphs, []

    def show(self, view: MapView) -> None:
        """Draw a view; lines equal to those on screen are not painted again."""
        if self.size.width <= GUTTER or self.size.height < 2:
            return
        before = self._strips
        self._view = view
        self._strips = self._draw(view)
        if len(before) != len(self._strips):
            self.refresh()
            return
        width = self.size.width
        changed = [y for y, strip in enumerate(self._strips) if strip != before[y]]
        if changed:
            self.refresh(*(Region(0, first, width, count) for first, count in _spans(changed)))

    def _draw(self, view: MapView) -> list[Strip]:
        high, wide = self.pixels
        picture = with_arrows(paint(view, high, wide, self._glyphs), view, self._glyphs)
        self._picture = picture
        ink = Ink(
            self._glyphs, self._glyphs.table(view.palette, bool(view.categories)),
            letters(view.categories, view.kind),
        )  # fmt: skip
        place = view.selection.pe
        row, col = place if place is not None else (None, None)
        base = self.rich_style
        strips = [ruler(picture, col, self._glyphs).apply_style(base)]
        for y in range(self.size.height - 1):
            number = gutter(picture, y, row, self._glyphs)
            segments = [Segment(number.text, base + number.style)]
            strip = Strip(segments + map_line(picture, y, ink), self.size.width)
            strips.append(strip.apply_style(base) if self._glyphs.is_ascii else strip)
        return strips

    def render_line(self, y: int) -> Strip:
        """Return line `y`, blank before the first view."""
        if y < len(self._strips):
            return self._strips[y]
        return Strip.blank(self.size.width, self.rich_style)

    def on_resize(self, event: events.Resize) -> None:
        """Ask for a view of the new size."""
        self._strips = []
        self.post_message(self.Sized())

    def on_click(self, event: events.Click) -> None:
        """Report the PE under the pointer; the upper one where a cell shows two."""
        if self._picture is None:
            return
        pixels = 1 if self._glyphs.is_ascii else 2
        place = self._picture.pe_at((event.y - 1) * pixels, event.x - GUTTER)
        if event.y >= 1 and place is not None:
            self.post_message(self.Picked(*place))


def _spans(lines: list[int]) -> list[tuple[int, int]]:
    """Return (first, count) of runs of neighbouring numbers."""
    array = np.array(lines)
    parts = np.split(array, np.flatnonzero(np.diff(array) > 1) + 1)
    return [(int(part[0]), len(part)) for part in parts]
