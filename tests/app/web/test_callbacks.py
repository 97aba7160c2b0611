"""Signals in, panels out: the callbacks called as plain functions."""

from __future__ import annotations

import pytest
from dash.exceptions import PreventUpdate

from app.debugger import Debugger
from app.web import Registry
from app.web.callbacks import show_idle, show_moment, show_run
from engine.metrics import METRICS
from tests.app.web.rendered import prop, text, walk, with_class


def test_run_panels_name_model_machine_and_every_kernel(
    registry: Registry, session: str, debugger: Debugger
) -> None:
    head, notice, kernels, report = show_run(registry, {"session": session})
    assert "mlp" in text(head)
    assert "ledger ok" in text(head)
    assert notice is None
    for kernel in debugger.run.program.kernels:
        assert kernel.id in text(kernels)
    assert "causes sum to cycles" in text(report)


def test_empty_inspector_says_what_to_do(registry: Registry, session: str) -> None:
    _, sentence, panel = show_moment(registry, {"session": session, "theme": "dark"})
    assert sentence.startswith("utilization")
    assert "Click a PE" in text(panel)


def test_selected_pe_shows_causes_sram_and_links(
    registry: Registry, session: str, debugger: Debugger
) -> None:
    kernel = debugger.run.program.kernels[0]
    debugger.select_pe(kernel.region.row, kernel.region.col)
    _, _, panel = show_moment(registry, {"session": session})
    words = text(panel)
    assert f"PE ({kernel.region.row}, {kernel.region.col})" in words
    assert f"Kernel {kernel.id}" in words
    assert "compute" in words
    assert "deliver" in words
    assert len(with_class(panel, "block")) >= 2


def test_stacked_bar_adds_up_to_the_step(
    registry: Registry, session: str, debugger: Debugger
) -> None:
    region = debugger.run.program.kernels[0].region
    debugger.select_pe(region.row, region.col)
    _, _, panel = show_moment(registry, {"session": session})
    parts = walk(with_class(panel, "stack")[0].children)
    shares = [float(part.style["width"].rstrip("%")) for part in parts]
    assert sum(shares) == pytest.approx(100.0, abs=0.01)


def test_category_map_has_a_swatch_a_cause(
    registry: Registry, session: str, debugger: Debugger
) -> None:
    debugger.set_metric("cause")
    legend, _, _ = show_moment(registry, {"session": session, "theme": "light"})
    assert len(with_class(legend, "swatch")) == 14
    assert "wait-fabric" in text(legend)


def test_legend_says_unit_and_standing(
    registry: Registry, session: str, debugger: Debugger
) -> None:
    debugger.set_metric("sram_allocated")
    legend, _, _ = show_moment(registry, {"session": session})
    assert "KB of" in text(legend)
    assert METRICS["sram_allocated"].standing in text(legend)


def test_idle_region_is_selected_and_zoomed_to(registry: Registry, session: str) -> None:
    panel = show_idle(registry, {"session": session})
    button = with_class(panel, "link")[0]
    assert prop(button, "data-do") == "region"
    assert prop(button, "data-then") == "focus"
    assert len(str(prop(button, "data-args")).split()) == 4


@pytest.mark.parametrize("signal", [None, {}, {"session": "0-aaaaaaaa"}])
def test_signal_of_another_server_updates_nothing(
    registry: Registry, signal: dict[str, str] | None
) -> None:
    with pytest.raises(PreventUpdate):
        show_run(registry, signal)
