"""Arrows with their load on a map of links, where a PE has room for one. A pure function."""

from __future__ import annotations

from dataclasses import replace

from app.finding.hot_links import HOT_LINK
from app.tui.glyphs import Glyphs
from app.tui.picture import Label, Picture
from app.views.map import MapView

_ARROWS = {"link_east": "→>", "link_west": "←<", "link_north": "↑^", "link_south": "↓v"}
"""metric -> the arrow with half-blocks and with characters alone"""
_ROOM = 5
"""cells of a PE from which an arrow and a load in per cent fit"""


def with_arrows(picture: Picture, view: MapView, glyphs: Glyphs) -> Picture:
    """Return the picture with an arrow on every PE that sends over the link shown."""
    arrows = _ARROWS.get(view.metric)
    pixels = 1 if glyphs.is_ascii else 2
    is_one_pe = view.pool_rows * view.pool_cols == 1
    if arrows is None or not is_one_pe or view.kind != "load" or picture.zoom_cols < _ROOM:
        return picture
    if picture.zoom_rows < pixels:
        return picture
    taken = {(label.y, cell) for label in picture.labels
             for cell in range(label.x - 1, label.x + len(label.text) + 1)}  # fmt: skip
    found = list(picture.labels)
    for row, col in zip(*view.values.nonzero(), strict=True):
        load = float(view.values[row, col]) * view.scale.unit_per_code
        text = f"{arrows[glyphs.is_ascii]}{100 * load:.0f}%"
        y = (picture.top + int(row) * picture.zoom_rows + picture.zoom_rows // 2) // pixels
        x = picture.left + int(col) * picture.zoom_cols + (picture.zoom_cols - len(text)) // 2
        cells = {(y, x + index) for index in range(len(text))}
        if not taken & cells and x + len(text) <= picture.codes.shape[1]:
            taken |= cells
            found.append(Label(y, x, text, False, "alert" if load >= HOT_LINK else "ok"))
    return replace(picture, labels=tuple(sorted(found, key=lambda label: (label.y, label.x))))
