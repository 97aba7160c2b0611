"""Arrows on links at high zoom: on the PEs that send, with their load, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.tui.arrows import with_arrows
from app.tui.glyphs import BLOCKS, Glyphs, plain
from app.tui.picture import paint
from app.views.map import MapView
from tests.app.tui.factory import Drive, map_view, play


def _links(metric: str = "link_east") -> MapView:
    view = map_view([[0, 1], [1, 0]])
    values = np.array([[0, 500], [950, 0]], np.uint16)
    scale = replace(view.scale, unit_per_code=0.001)
    return replace(view, metric=metric, kind="load", values=values, scale=scale)


@pytest.mark.parametrize(("glyphs", "arrow"), [(BLOCKS, "→"), (plain("x"), ">")])
def test_senders_have_an_arrow_with_their_load(glyphs: Glyphs, arrow: str) -> None:
    view = _links()
    picture = with_arrows(paint(view, 16, 16, glyphs), view, glyphs)
    assert [(label.text, label.severity) for label in picture.labels] == [
        (f"{arrow}50%", "ok"), (f"{arrow}95%", "alert"),
    ]  # fmt: skip
    assert picture.labels[0].x > picture.labels[1].x
    assert picture.labels[0].y < picture.labels[1].y


def test_there_are_none_without_room_or_for_other_metrics() -> None:
    view = _links()
    assert with_arrows(paint(view, 4, 4, BLOCKS), view, BLOCKS).labels == ()
    other = _links("traffic")
    assert with_arrows(paint(other, 16, 16, BLOCKS), other, BLOCKS).labels == ()


def test_arrows_are_painted_when_zoomed_in() -> None:
    async def script(drive: Drive) -> None:
        await drive.press("6", "p", "full_stop", "plus", "plus", "plus")
        assert "→" in "\n".join(drive.screen_text()[1:30])

    play(script)
