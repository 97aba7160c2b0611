"""Colour tables, shared by web, terminal and export so that all three agree. No screen.

Tables lie in assets/palettes.json: `tables` (name -> 256 RGB colours as one hex string),
`categories` (table -> theme -> name, in the order of codes -> #rrggbb), `marks` (theme -> name ->
#rrggbb).
"""

from __future__ import annotations

import difflib
import json
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

THEMES = ("dark", "light")


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    text = resources.files("app.assets").joinpath("palettes.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def palette_names() -> tuple[str, ...]:
    """Return the names that `lut` knows."""
    return (*_data()["tables"], "diverging", *_data()["categories"])


@lru_cache(maxsize=32)
def lut(name: str, theme: str = "dark") -> np.ndarray:
    """Return a colour table, uint8 (256, 3), read-only.

    One of categories holds a colour at each code ('category': causes, 'kinds': families of
    kernels, 'phases': those of a training step); 'diverging' is the table for the theme.

    Raises:
        KeyError: no such table; the message names the nearest.
    """
    if name in _data()["categories"]:
        table = np.zeros((256, 3), np.uint8)
        for code, colour in enumerate(_data()["categories"][name][theme].values()):
            table[code] = _rgb(colour[1:])
    else:
        key = f"diverging_{theme}" if name == "diverging" else name
        tables = _data()["tables"]
        if key not in tables:
            near = difflib.get_close_matches(name, palette_names(), n=1, cutoff=0.3)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise KeyError(f"there is no palette '{name}'{hint}")
        table = np.frombuffer(bytes.fromhex(tables[key]), np.uint8).reshape(256, 3).copy()
    table.setflags(write=False)
    return table


def _rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text)
    return red, green, blue


def cause_colour(cause: str, theme: str = "dark") -> str:
    """Return the colour of a cause, '#rrggbb'."""
    colour: str = _data()["categories"]["category"][theme][cause]
    return colour


def mark_colour(name: str, theme: str = "dark") -> str:
    """Return the colour of a mark (alert, selection), '#rrggbb'."""
    colour: str = _data()["marks"][theme][name]
    return colour


def hex_table(name: str, theme: str = "dark") -> tuple[str, ...]:
    """Return a colour table as 256 '#rrggbb'."""
    return tuple("#{:02x}{:02x}{:02x}".format(*row) for row in lut(name, theme).tolist())
