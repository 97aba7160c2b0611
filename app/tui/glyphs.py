"""What the terminal can draw: half-blocks in colour, or characters alone. Knows no widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from rich.color import Color
from rich.style import Style

from app.palette import lut, mark_colour

RAMP = " .:-=+*#%@"
"""characters from low to high where there is no colour"""
LEVELS = 16
"""colours of a map; more makes repainting slower than the eye gains"""
EDGE = 16
"""added to a level on the border of a kernel"""
OUTLINE, ALERT, OUTSIDE, CURSOR = 32, 33, 34, 35
"""codes of pixels that show no value"""

_CAUSE_LETTERS = {
    "defective": "x", "unassigned": " ", "compute": "#", "overhead": "o", "memory": "m",
    "transfer": "t", "imbalance": "b", "wait-output": "O", "wait-weights": "W", "wait-host": "H",
    "wait-fabric": "F", "wait-input": "I", "fill": ">", "drain": "<",
}  # fmt: skip
_OUTSIDE_RGB = (24, 28, 36)
_OUTLINE_RGB = (150, 166, 190)
"""border of the selected kernel; weaker than the selected PE"""
_EDGE_BLEND = 0.38
"""how far a border is drawn towards white: our choice, seen at 16 levels of all maps"""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """How to draw."""

    name: str
    """blocks | ascii"""
    pixel_height: int
    """height of a pixel in widths of a pixel: 1 for half-blocks, 2 for characters"""
    spark: str
    """characters of a sparkline, low to high"""
    bar: str
    """character of a full bar"""
    rest: str
    """character of the empty rest of a bar"""
    column_mark: str
    row_mark: str
    tick: str
    reason: str = ""
    """why there are no colours, as a sentence; empty with colours"""

    @property
    def is_ascii(self) -> bool:
        """True where characters alone must do"""
        return self.name == "ascii"

    @property
    def levels(self) -> int:
        """levels of a map"""
        return len(RAMP) if self.is_ascii else LEVELS


BLOCKS = Glyphs("blocks", 1, "▁▂▃▄▅▆▇█", "█", "░", "▼", "▶", "┆")


def plain(reason: str) -> Glyphs:
    """Return the glyphs that need no colour."""
    return Glyphs("ascii", 2, RAMP, "#", ".", "v", ">", "|", reason)


def detect(environ: Mapping[str, str], color_system: str | None) -> Glyphs:
    """Choose by the environment and Rich's colour system: standard | 256 | truecolor | None."""
    if environ.get("NO_COLOR"):
        return plain("NO_COLOR is set: characters stand for values")
    if environ.get("TERM") == "dumb":
        return plain("TERM is dumb: characters stand for values")
    if color_system in (None, "standard", "windows"):
        return plain("the terminal has 16 colours or fewer: characters stand for values")
    return BLOCKS


@lru_cache(maxsize=32)
def colours(palette: str, is_category: bool) -> np.ndarray:
    """Return the colour of every pixel code, packed 0xRRGGBB, int64 (64,)."""
    table = np.zeros((64, 3), np.int64)
    source = lut(palette).astype(np.int64)
    picked = source[:LEVELS] if is_category else source[_sample_points()]
    table[:LEVELS] = picked
    table[EDGE : EDGE + LEVELS] = np.round(picked + (255 - picked) * _EDGE_BLEND)
    table[OUTLINE] = _OUTLINE_RGB
    table[CURSOR] = _rgb(mark_colour("selection"))
    table[ALERT] = _rgb(mark_colour("alert"))
    table[OUTSIDE] = _OUTSIDE_RGB
    return (table[:, 0] << 16) | (table[:, 1] << 8) | table[:, 2]


def _sample_points() -> np.ndarray:
    return np.round(np.linspace(0, 255, LEVELS)).astype(np.int64)


def _rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text.lstrip("#"))
    return red, green, blue


def letters(categories: tuple[str, ...]) -> str:
    """Return the character of every pixel code where there is no colour; 64 characters."""
    if categories:
        levels = "".join(
            _CAUSE_LETTERS.get(name, chr(ord("a") + code % 26))
            for code, name in enumerate(categories)
        )
    else:
        levels = RAMP
    levels = levels[:LEVELS].ljust(LEVELS)
    return (levels + levels + "$! &").ljust(64)


@lru_cache(maxsize=8192)
def pair_style(front: int, back: int) -> Style:
    """Return the style of a cell, colours packed 0xRRGGBB."""
    return Style(color=_colour(front), bgcolor=_colour(back))


@lru_cache(maxsize=512)
def _colour(packed: int) -> Color:
    return Color.from_rgb(packed >> 16, (packed >> 8) & 255, packed & 255)


def hex_colour(packed: int) -> str:
    """Return '#rrggbb'."""
    return f"#{packed:06x}"
