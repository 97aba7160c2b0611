"""Where a zoomed map lies on the mesh, in a few lines of characters. A pure function."""

from __future__ import annotations

from rich.text import Text

from app.tui.glyphs import Glyphs
from app.views.map import MapView

_HIGH = 8
"""lines at most"""
_CELL = 2
"""a character is about twice as high as wide"""


def minimap(view: MapView, glyphs: Glyphs, width: int) -> Text:
    """Return the mesh with the viewport filled and the selected PE marked; empty at full view."""
    rows, cols = view.grid
    port = view.viewport
    if (port.rows, port.cols) == (rows, cols):
        return Text()
    per_line = max(-(-rows // _HIGH), -(-cols * _CELL // width), 1)
    per_cell = max(1, -(-per_line // _CELL))
    high, wide = -(-rows // per_line), min(width, -(-cols // per_cell))
    grid = [[glyphs.rest] * wide for _ in range(high)]
    for y in range(port.row // per_line, (port.row + port.rows - 1) // per_line + 1):
        for x in range(port.col // per_cell, (port.col + port.cols - 1) // per_cell + 1):
            if y < high and x < wide:
                grid[y][x] = glyphs.bar
    text = Text(f"view {port.row},{port.col} {port.rows}x{port.cols} of {rows}x{cols}\n", "dim")
    place = view.selection.pe
    mark = None if place is None else (place[0] // per_line, place[1] // per_cell)
    for y, cells in enumerate(grid):
        for x, cell in enumerate(cells):
            text.append("X" if (y, x) == mark else cell, "bold reverse" if (y, x) == mark else "")
        text.append("\n")
    return text
