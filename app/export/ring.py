"""Where the ring goes that marks the PE which stopped the run, as the browser draws it."""

from __future__ import annotations

from dataclasses import dataclass

from app.export.picture import Picture

_LEAST_RADIUS = 11
"""pixels"""
_LEAST_SIDE = 6
"""pixels of a PE above which the side of a link can be told"""
_SIDES = {
    "east": (1, 0, 1, 1), "west": (0, 0, 0, 1), "north": (0, 0, 1, 0), "south": (0, 1, 1, 1),
}  # fmt: skip
"""plane -> ends of its side of a PE, in PEs"""


@dataclass(frozen=True, slots=True)
class Ring:
    """A circle, and a bar where it is about a link; in pixels."""

    x: float
    y: float
    radius: float
    bar: tuple[float, float, float, float] | None
    """both ends (x, y, x, y), None where it is about the PE itself or PEs are too small"""


def ring_of(picture: Picture, side: int, left: int, top: int) -> Ring | None:
    """Return the ring of a picture whose map begins at (left, top) with `side` pixels a PE."""
    hit, view = picture.hit, picture.viewport
    if hit is None:
        return None
    x, y = left + (hit.col - view.col) * side, top + (hit.row - view.row) * side
    ends = _SIDES.get(hit.plane) if side > _LEAST_SIDE else None
    bar = None
    if ends is not None:
        bar = (x + ends[0] * side, y + ends[1] * side, x + ends[2] * side, y + ends[3] * side)
    return Ring(x + side / 2, y + side / 2, max(0.75 * side, _LEAST_RADIUS), bar)
