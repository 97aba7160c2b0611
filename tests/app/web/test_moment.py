"""The panels of a moment: legend, sentence, inspector, and their JSON."""

from __future__ import annotations

import json

import pytest

from app.debugger import Debugger
from app.web.moment import moment_json, show_moment
from engine.metrics import METRICS
from tests.app.web.rendered import text, walk, with_class


def test_empty_inspector_says_what_to_do(debugger: Debugger) -> None:
    _, sentence, panel = show_moment(debugger, "dark")
    assert sentence.startswith("utilization")
    assert "Click a PE" in text(panel)


def test_selected_pe_shows_causes_sram_and_links(debugger: Debugger) -> None:
    kernel = debugger.run.program.kernels[0]
    debugger.select_pe(kernel.region.row, kernel.region.col)
    _, _, panel = show_moment(debugger, "dark")
    words = text(panel)
    assert f"PE ({kernel.region.row}, {kernel.region.col})" in words
    assert f"Kernel {kernel.id}" in words
    assert "compute" in words
    assert "deliver" in words
    assert len(with_class(panel, "block")) >= 2


def test_stacked_bar_adds_up_to_the_step(debugger: Debugger) -> None:
    region = debugger.run.program.kernels[0].region
    debugger.select_pe(region.row, region.col)
    _, _, panel = show_moment(debugger, "dark")
    parts = walk(with_class(panel, "stack")[0].children)
    shares = [float(part.style["width"].rstrip("%")) for part in parts]
    assert sum(shares) == pytest.approx(100.0, abs=0.01)


def test_category_map_has_a_swatch_a_cause(debugger: Debugger) -> None:
    debugger.set_metric("cause")
    legend, _, _ = show_moment(debugger, "light")
    assert len(with_class(legend, "swatch")) == 14
    assert "wait-fabric" in text(legend)


def test_legend_says_unit_and_standing(debugger: Debugger) -> None:
    debugger.set_metric("sram_allocated")
    legend, _, _ = show_moment(debugger, "dark")
    assert "KB of" in text(legend)
    assert METRICS["sram_allocated"].standing in text(legend)


def test_json_names_the_places_and_holds_plain_components(debugger: Debugger) -> None:
    debugger.select_pe(0, 0)
    panels = json.loads(moment_json(debugger, "dark"))
    assert list(panels) == ["legend", "map-sentence", "panel-inspect"]
    title = panels["panel-inspect"][0]
    assert (title["type"], title["props"]["children"]) == ("H2", "PE (0, 0)")
