"""Colour tables: whole, readable, and the same as their script makes them."""

from __future__ import annotations

import importlib.util
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from app.palette import THEMES, cause_colour, hex_table, lut, palette_names
from engine.causes import CAUSES
from engine.metrics import METRICS

ASSETS = Path(__file__).parents[2] / "assets"


def _lightness(table: np.ndarray) -> np.ndarray:
    linear = (table / 255.0) ** 2.2
    light: np.ndarray = linear @ np.array([0.2126, 0.7152, 0.0722])
    return light


@pytest.mark.parametrize("name", ["viridis", "cividis", "inferno"])
def test_sequential_tables_only_get_lighter(name: str) -> None:
    assert (np.diff(_lightness(lut(name))) >= -2e-3).all()


def test_every_metric_has_its_table() -> None:
    assert {metric.palette for metric in METRICS.values()} <= set(palette_names())


@pytest.mark.parametrize("theme", THEMES)
def test_causes_can_be_told_apart(theme: str) -> None:
    colours = [lut("category", theme)[CAUSES.index(cause)].astype(int) for cause in CAUSES]
    for (a, first), (b, second) in combinations(enumerate(colours), 2):
        assert np.abs(first - second).sum() > 40, (CAUSES[a], CAUSES[b])


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
