"""The values' panel and the tile in the inspector."""

from __future__ import annotations

from app.debugger import Debugger
from app.web import Registry
from app.web.callbacks import show_values
from app.web.moment import show_moment
from tests.app.web.rendered import prop, text, with_class


def test_panel_offers_to_compute_and_then_shows_errors(
    registry: Registry, debugger: Debugger, session: str
) -> None:
    signal = {"session": session}
    before = show_values(registry, signal)
    assert prop(with_class(before, "small")[0], "data-do") == "values"
    debugger.do("values")
    debugger.wait(60)
    words = text(show_values(registry, signal))
    assert "largest error of 3 tensors" in words
    assert "relu0" in words
    assert "begins with" in words
    assert "Compute values" not in words
    view = debugger.view_values()
    assert f"{view.rows[-1].max_error:.2g}" in words


def test_inspector_says_how_to_get_values_and_then_shows_the_tile(debugger: Debugger) -> None:
    debugger.do("pe", 0, 0)
    assert "V (values) computes" in text(show_moment(debugger, "dark")[2])
    debugger.do("values")
    debugger.wait(60)
    pe = debugger.view_pe()
    assert pe is not None
    assert pe.values is not None
    words = text(show_moment(debugger, "dark")[2])
    assert pe.values.sentence in words
    assert f"{pe.values.first[0]:.5g}" in words
