"""Themes, 256 colours, the minimap and streaming runs."""

from __future__ import annotations

import numpy as np
import pytest
from app.demo_models import demo_path
from rich.text import Text

from app.debugger import Debugger
from app.runs.run import make_run
from app.tui.glyphs import BLOCKS, LEVELS, colours, detect, few_colours, plain
from app.tui.minimap import minimap
from app.tui.style import relit
from engine.machine import parse_machine
from lowering.config import CompileConfig
from lowering.frontends.onnx import load_onnx
from tests.app.tui.factory import Drive, map_view, play


@pytest.mark.parametrize("palette", ["viridis", "cividis", "inferno"])
def test_256_colours_keep_every_level_apart_and_in_order(palette: str) -> None:
    found = colours(palette, False, "dark", True)[:LEVELS]
    assert len(set(found.tolist())) == LEVELS
    red, green, blue = found >> 16, (found >> 8) & 255, found & 255
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    assert (np.diff(luma) > -12).all()


def test_few_colours_are_those_of_the_terminal() -> None:
    found = few_colours(np.array([[1, 2, 3], [96, 0, 0], [250, 251, 252]]))
    allowed = {0, 95, 135, 175, 215, 255, *range(8, 248, 10)}
    assert set(found.ravel().tolist()) <= allowed


def test_a_light_terminal_is_seen_and_the_ground_can_be_changed() -> None:
    assert detect({"COLORFGBG": "0;15"}, "truecolor").theme == "light"
    assert detect({"COLORFGBG": "15;0"}, "truecolor").theme == "dark"

    async def script(drive: Drive) -> None:
        before = drive.map_lines()
        await drive.press("I")
        assert drive.app.glyphs.theme == "light"
        assert drive.app.has_class("-light")
        assert drive.map_lines() != before
        await drive.press("I")
        assert drive.map_lines() == before

    play(script)


def test_ink_is_darker_on_a_light_ground() -> None:
    text = Text("x", "bold #f0e442").append("y", "#8fdcc0")
    assert relit(text, "dark") is text
    assert relit(text, "light").style == "bold #7a5c00"
    assert relit(text, "light").spans[0].style == "#00705a"


def test_the_minimap_shows_where_a_zoomed_view_lies() -> None:
    view = map_view([[0] * 50] * 50, row=50, col=50)
    lines = minimap(view, plain("x"), 20).plain.splitlines()
    assert lines[0] == "view 50,50 50x50 of 100x100"
    half = len(lines[1]) // 2
    assert set(lines[1]) == {"."}
    assert set(lines[-1][half + 1 :]) == {"#"}
    assert set(lines[-1][: half - 1]) == {"."}


def test_no_minimap_where_all_is_shown() -> None:
    assert minimap(map_view([[0] * 100] * 100), BLOCKS, 20).plain == ""


def test_a_streaming_run_outlines_the_turn_and_tells_what_arrives() -> None:
    config = CompileConfig(machine=parse_machine("mesh-32x48"), mode="streaming")
    session = Debugger(make_run(1, load_onnx(demo_path("mlp")), config, "mlp"))

    async def script(drive: Drive) -> None:
        for _ in range(4):
            shot = drive.app.main.snapshot
            assert shot is not None
            assert shot.streaming is not None
            assert len(shot.map.outlines) <= len(shot.streaming.turn)
            words = "\n".join(drive.screen_text())
            assert shot.streaming.headline in words
            now = [phase.name for phase in shot.streaming.phases if phase.state == "now"]
            assert all(f"{name} " in words for name in now)
            first = shot.streaming.quiet or shot.streaming.arriving[0].sentence
            assert first[:40] in words
            await drive.press("n")

    play(script, session=session)
