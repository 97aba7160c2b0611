"""A small session and hand-made views for the tests of the terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import numpy as np
from app.demo_models import demo_path
from textual.pilot import Pilot

from app.debugger import Debugger
from app.runs.run import make_run
from app.session.cursor import Selection, Viewport
from app.tui.app import WaferscopeApp
from app.tui.glyphs import BLOCKS, Glyphs
from app.tui.map_widget import MapWidget
from app.views.map import MapView, Outline, Scale, Tick
from engine.machine import parse_machine
from lowering.config import CompileConfig
from lowering.frontends.onnx import load_onnx


def small_session() -> Debugger:
    """Return the three-layer demo on a mesh of 32 x 48 PEs."""
    config = CompileConfig(machine=parse_machine("mesh-32x48"))
    return Debugger(make_run(1, load_onnx(demo_path("mlp")), config, "mlp"))


def map_view(
    codes: list[list[int]],
    *,
    outlines: tuple[Outline, ...] = (),
    selection: Selection | None = None,
    pool: tuple[int, int] = (1, 1),
    row: int = 0,
    col: int = 0,
    categories: tuple[str, ...] = (),
) -> MapView:
    """Return a utilization map whose codes 0..255 are given, PEs (row, col) north-west."""
    values = np.array(codes, np.uint8)
    height, width = values.shape
    viewport = Viewport(row, col, height * pool[0], width * pool[1])
    return MapView(
        metric="utilization", label="utilization", unit="% of step",
        kind="category" if categories else "fraction", step=0, step_label="start",
        grid=(100, 100), viewport=viewport, values=values, pool_rows=pool[0], pool_cols=pool[1],
        pool_kind="mean", pool_text="", scale=Scale(0.0, 1.0, 1 / 255, False),
        palette="category" if categories else "viridis",
        ticks=(Tick(0.0, 0.0, "0 %"), Tick(1.0, 1.0, "100 %")), categories=categories,
        outlines=outlines, selection=selection or Selection(), standing="model", severity="ok",
        sentence="a sentence",
    )  # fmt: skip


class Drive:
    """Presses keys and waits until everything was answered and painted."""

    def __init__(self, app: WaferscopeApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    async def settle(self) -> None:
        """Wait until the courier is idle and its answers are painted."""
        for _ in range(500):
            await self.pilot.pause()
            if self.app.courier.is_idle and self.app.main.snapshot is not None:
                await self.pilot.pause()
                return
            await asyncio.sleep(0.01)
        raise AssertionError("the courier did not come to rest")

    async def press(self, *keys: str) -> None:
        """Press keys, each answered before the next."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, line: str) -> None:
        """Type a line and send it."""
        for character in line:
            await self.pilot.press("space" if character == " " else character)
        await self.press("enter")

    @property
    def map(self) -> MapWidget:
        """the map on the main screen"""
        return self.app.main.query_one(MapWidget)

    def map_lines(self) -> list[object]:
        """Return the strips of the map."""
        return [self.map.render_line(y) for y in range(self.map.size.height)]

    def screen_text(self) -> list[str]:
        """Return what stands on the screen, line by line."""
        screen = self.app.screen
        width, height = self.app.size
        lines = screen._compositor.render_strips()
        return ["".join(s.text for s in line)[:width] for line in lines[:height]]


def play(
    script: Callable[[Drive], Awaitable[None]],
    *,
    size: tuple[int, int] = (140, 44),
    glyphs: Glyphs | None = BLOCKS,
    session: Debugger | None = None,
) -> Debugger:
    """Run a script against the application and return its session."""
    debugger = session or small_session()

    async def main() -> None:
        app = WaferscopeApp(debugger, glyphs)
        async with app.run_test(size=size) as pilot:
            drive = Drive(app, pilot)
            await drive.settle()
            await script(drive)

    asyncio.run(main())
    return debugger
