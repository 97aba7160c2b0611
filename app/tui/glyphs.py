"""What the terminal can draw: half-blocks in colour, or characters alone. Knows no widgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from rich.color import Color
from rich.style import Style

from app.palette import lut, mark_colour

RAMP = " .:-=+*#%@"
"""characters from low to high where there is no colour"""
DIFFERENCE_RAMP = "GFEDCBA.1234567"
"""characters of a difference: letters lower, digits higher, the point where equal"""
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
_OUTSIDE_LIGHT_RGB = (226, 230, 236)
_OUTLINE_LIGHT_RGB = (70, 84, 104)
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
    theme: str = "dark"
    """dark | light"""
    few: bool = False
    """True where the terminal has 256 colours: each is chosen among those"""

    @property
    def is_ascii(self) -> bool:
        """True where characters alone must do"""
        return self.name == "ascii"

    @property
    def levels(self) -> int:
        """levels of a map"""
        return len(RAMP) if self.is_ascii else LEVELS

    def table(self, palette: str, is_category: bool) -> np.ndarray:
        """Return the colour of every pixel code, packed 0xRRGGBB, int64 (64,)."""
        return colours(palette, is_category, self.theme, self.few)

    @property
    def other_theme(self) -> Glyphs:
        """the same on a background of the other kind"""
        return replace(self, theme="light" if self.theme == "dark" else "dark")


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
    theme = "light" if _is_light(environ.get("COLORFGBG", "")) else "dark"
    return replace(BLOCKS, theme=theme, few=color_system == "256")


def _is_light(said: str) -> bool:
    """Read 'foreground;background' as terminals tell it: 7 and 15 are light backgrounds."""
    return said.rpartition(";")[2] in ("7", "15")


@lru_cache(maxsize=32)
def colours(palette: str, is_category: bool, theme: str = "dark", few: bool = False) -> np.ndarray:
    """Return the colour of every pixel code, packed 0xRRGGBB, int64 (64,)."""
    table = np.zeros((64, 3), np.int64)
    source = lut(palette, theme).astype(np.int64)
    picked = source[:LEVELS] if is_category else source[_sample_points(palette)]
    if few and not is_category:
        known = _HAND_PICKED.get(palette)
        picked = few_colours(picked) if known is None else np.array([_rgb(c) for c in known])
    table[:LEVELS] = picked
    ink = 255 if theme == "dark" else 0
    table[EDGE : EDGE + LEVELS] = np.round(picked + (ink - picked) * _EDGE_BLEND)
    table[OUTLINE] = _OUTLINE_RGB if theme == "dark" else _OUTLINE_LIGHT_RGB
    table[CURSOR] = _rgb(mark_colour("selection", theme))
    table[ALERT] = _rgb(mark_colour("alert", theme))
    table[OUTSIDE] = _OUTSIDE_RGB if theme == "dark" else _OUTSIDE_LIGHT_RGB
    return (table[:, 0] << 16) | (table[:, 1] << 8) | table[:, 2]


def _sample_points(palette: str) -> np.ndarray:
    """A scale with a middle has an odd number of levels; the last is never used."""
    ends = LEVELS - 1 if palette.startswith("diverging") else LEVELS
    points = np.round(np.linspace(0, 255, ends)).astype(np.int64)
    return np.append(points, points[-1:])[:LEVELS]


def _rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text.lstrip("#"))
    return red, green, blue


def letters(categories: tuple[str, ...], kind: str = "") -> str:
    """Return the character of every pixel code where there is no colour; 64 characters."""
    if kind == "difference":
        levels = DIFFERENCE_RAMP
    elif categories:
        levels = "".join(
            _CAUSE_LETTERS.get(name, chr(ord("a") + code % 26))
            for code, name in enumerate(categories)
        )
    else:
        levels = RAMP
    levels = levels[:LEVELS].ljust(LEVELS)
    return (levels + levels + "$! &").ljust(64)


_CUBE = (0, 95, 135, 175, 215, 255)
"""intensities of the 6x6x6 colours that terminals of 256 colours have, as xterm fixes them"""
_LUMA = np.array([0.299, 0.587, 0.114])
_HAND_PICKED = {
    "viridis": (
        "5f005f", "5f0087", "5f00af", "005f87", "005faf", "008787", "0087af", "00af87",
        "5faf5f", "5faf87", "5fd75f", "87d75f", "afd75f", "d7d75f", "ffd75f", "ffff5f",
    ),
}  # fmt: skip
"""palette -> the 16 levels on 256 colours; the nearest ones would not grow lighter step by step"""


def few_colours(wanted: np.ndarray) -> np.ndarray:
    """Return the colours of a 256-colour terminal nearest to those wanted, none of them twice.

    Left to itself each colour would take its nearest, and neighbours on a scale become one.
    """
    side = np.array(_CUBE)
    cube = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    grey = np.repeat(np.arange(8, 248, 10)[:, None], 3, axis=1)
    offered = np.unique(np.concatenate([cube, grey]), axis=0)
    picked: list[np.ndarray] = []
    for colour in wanted:
        apart = ((offered - colour) ** 2) @ _LUMA
        if picked and not np.array_equal(colour, wanted[len(picked) - 1]):
            for other in picked:
                apart[(offered == other).all(axis=1)] = np.inf
        picked.append(offered[int(np.argmin(apart))])
    return np.stack(picked)


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
