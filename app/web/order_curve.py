"""Bytes in running order as a curve with its peak; each point leads to its kernel. No views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.units import size
from app.web.svg import Shape, line, picture, pressed, shape, words

_WIDE, _HIGH = 330, 150
_LEFT, _TOP, _BOTTOM = 68, 10, 128
"""where the drawing begins and ends inside the picture"""


@dataclass(frozen=True, slots=True)
class Spot:
    """One point of the curve."""

    kernel: str
    bytes: int
    told: str
    """what its tooltip says"""


def order_curve(
    spots: Sequence[Spot], peak: int, top_bytes: int, caption: str, name: str, limit: int = 0
) -> Shape:
    """Return the curve from 0 to `top_bytes` with its peak, and a line at `limit` bytes if any."""
    each = (_WIDE - _LEFT - 4) / len(spots)

    def high(held: int) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * min(1.0, held / max(1, top_bytes))

    corners = [
        f"L{_LEFT + (at + side) * each:.1f} {high(spot.bytes):.1f}"
        for at, spot in enumerate(spots)
        for side in (0, 1)
    ]
    start, end = f"M{_LEFT} {_BOTTOM}", f"L{_LEFT + len(spots) * each:.1f} {_BOTTOM}Z"
    middle, top = _LEFT + (peak + 0.5) * each, high(spots[peak].bytes)
    parts = [
        shape("rect", None, "ground", x=_LEFT, y=_TOP, width=float(len(spots) * each),
              height=_BOTTOM - _TOP),
        shape("path", None, "area", d=start + "".join(corners) + end),
        words(size(top_bytes), _LEFT - 4, _TOP + 8, "end"),
        words("0 B", _LEFT - 4, _BOTTOM, "end"),
        words(caption, _LEFT, _BOTTOM + 16),
        line(_LEFT, high(limit), _WIDE - 4, high(limit), "limit") if limit else None,
        line(middle, top, middle, _BOTTOM, "mark"),
        shape("circle", None, "mark", cx=middle, cy=top, r=4),
        *[_touch(spot, _LEFT + at * each, each) for at, spot in enumerate(spots)],
    ]  # fmt: skip
    return picture(_WIDE, _HIGH, [part for part in parts if part is not None], name)


def _touch(spot: Spot, left: float, wide: float) -> Shape:
    """Return the strip of a point that tells it and selects its kernel."""
    return Shape(
        "rect", shape("title", spot.told), "touch",
        {"x": f"{left:.1f}", "y": _TOP, "width": f"{wide:.2f}", "height": _BOTTOM - _TOP,
         **pressed("kernel", spot.kernel, "focus")},
    )  # fmt: skip
