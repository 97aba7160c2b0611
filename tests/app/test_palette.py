"""Colour tables: whole, readable, and the same as their script makes them."""

from __future__ import annotations

import importlib.util
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from app.palette import THEMES, cause_colour, hex_table, lut, palette_names
from app.runs.map_metrics import BARE, CATEGORIES, MAP_METRICS
from engine.causes import CAUSES

ASSETS = Path(__file__).parents[2] / "assets"


def _lightness(table: np.ndarray) -> np.ndarray:
    linear = (table / 255.0) ** 2.2
    light: np.ndarray = linear @ np.array([0.2126, 0.7152, 0.0722])
    return light


@pytest.mark.parametrize("name", ["viridis", "cividis", "inferno"])
def test_sequential_tables_only_get_lighter(name: str) -> None:
    assert (np.diff(_lightness(lut(name))) >= -2e-3).all()


def test_every_metric_has_its_table() -> None:
    assert {metric.palette for metric in MAP_METRICS.values()} <= set(palette_names())


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("metric", CATEGORIES)
def test_categories_can_be_told_apart(theme: str, metric: str) -> None:
    names = CATEGORIES[metric]
    colours = lut(MAP_METRICS[metric].palette, theme)[: len(names)].astype(int)
    for (a, first), (b, second) in combinations(enumerate(colours), 2):
        assert np.abs(first - second).sum() > 40, (names[a], names[b])


_DICHROMACY = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.1523, 1.0526, -0.2049), (0.1145, 0.7863, 0.0992), (-0.0039, -0.0481, 1.0520)),
    "deutan": ((0.3673, 0.8606, -0.2280), (0.2801, 0.6725, 0.0474), (-0.0118, 0.0429, 0.9689)),
    "tritan": ((1.2556, -0.0767, -0.1788), (-0.0784, 0.9308, 0.1476), (0.0047, 0.6914, 0.3039)),
}
"""what is seen of linear RGB: Machado, Oliveira, Fernandes, IEEE TVCG 2009, severity 1"""
_XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))


def _lab_as_seen(table: np.ndarray, vision: str) -> np.ndarray:
    """Return CIELAB (n, 3) of sRGB colours 0..255 as people with that vision see them."""
    part = table / 255.0
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(_DICHROMACY[vision]).T, 0, 1)
    xyz = seen @ np.array(_XYZ).T / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab: np.ndarray = np.stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1
    )
    return lab


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("vision", _DICHROMACY)
@pytest.mark.parametrize(("metric", "least"), [("kind", 19), ("phase", 11), ("cause", 10.5)])
def test_categories_can_be_told_apart_by_everyone(
    theme: str, vision: str, metric: str, least: float
) -> None:
    names = CATEGORIES[metric]
    seen = _lab_as_seen(lut(MAP_METRICS[metric].palette, theme)[: len(names)], vision)
    for (a, first), (b, second) in combinations(enumerate(seen), 2):
        if metric == "cause" or b >= len(BARE):  # those two are hatched on maps
            assert np.linalg.norm(first - second) > least, (names[a], names[b])


@pytest.mark.parametrize("metric", CATEGORIES)
def test_tables_of_categories_have_a_colour_a_code(metric: str) -> None:
    tables = json.loads((ASSETS / "palettes.json").read_text(encoding="utf-8"))["categories"]
    for theme in THEMES:
        assert tuple(tables[MAP_METRICS[metric].palette][theme]) == CATEGORIES[metric]


def test_category_table_holds_the_cause_colours() -> None:
    assert hex_table("category")[CAUSES.index("fill")] == cause_colour("fill")


def test_unknown_table_gets_the_nearest_name() -> None:
    with pytest.raises(KeyError, match="viridis"):
        lut("virdis")


def test_file_is_what_the_script_makes() -> None:
    spec = importlib.util.spec_from_file_location("make_palettes", ASSETS / "make_palettes.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = json.loads((ASSETS / "palettes.json").read_text(encoding="utf-8"))
    for name, points in script._POINTS.items():
        assert "".join(script.table(points)) == written["tables"][name]
    for table, colours in script.CATEGORIES.items():
        for index, theme in enumerate(("dark", "light")):
            told = [(name, f"#{pair[index]}") for name, pair in colours.items()]
            assert list(written["categories"][table][theme].items()) == told
