"""Make the pictures of the terminal view in docs/images: `python docs/make_terminal_shots.py`.

Each shot opens a demo, presses keys and writes what the screen shows as SVG. Fonts of other
servers are taken out, so that a page with these pictures fetches nothing.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path

from app.debugger import Debugger
from app.tui.app import WaferscopeApp
from app.tui.glyphs import BLOCKS, Glyphs, plain
from lowering.config import CompileConfig, apply_knob

IMAGES = Path(__file__).with_name("images")
_ASCII = plain("NO_COLOR is set: characters stand for values")


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture."""

    name: str
    """file name without its ending"""
    model: str
    """demo to open"""
    size: tuple[int, int]
    """(columns, rows) of the terminal"""
    keys: tuple[str, ...]
    """keys as Textual names them, in order"""
    glyphs: Glyphs = BLOCKS
    knobs: tuple[tuple[str, str], ...] = ()
    """(knob, value) turned before"""


SHOTS = (
    Shot("terminal-wafer", "gpt2-small", (200, 60), (*["n"] * 40, "2", "l", "l")),
    Shot("terminal-sram", "gpt2-small", (160, 48), ("4", "full_stop")),
    Shot("terminal-small", "transformer", (80, 24), (*["n"] * 6, "full_stop", "f")),
    Shot("terminal-idle", "cnn", (120, 36), (*["n"] * 4, "i")),
    Shot("terminal-knobs", "cnn", (120, 36), ("o", "down")),
    Shot("terminal-ascii", "mlp", (80, 24), (*["n"] * 2, "5", "full_stop"), _ASCII),
    Shot("terminal-pipeline", "transformer", (100, 32), ("p",),
         knobs=(("machine", "mesh-64x64"), ("mode", "pipeline"))),
    Shot("terminal-streaming", "transformer", (100, 32), ("p",),
         knobs=(("machine", "mesh-64x64"), ("mode", "streaming"))),
)  # fmt: skip


def without_fonts(svg: str) -> str:
    """Return the picture without fonts from other servers, in the reader's own monospace font."""
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg)
    return svg.replace("Fira Code,", "ui-monospace, Menlo, Consolas,")


async def take(shot: Shot) -> str:
    """Return the picture as SVG."""
    config = CompileConfig()
    for name, value in shot.knobs:
        config = apply_knob(config, name, value)
    app = WaferscopeApp(Debugger.open(shot.model, config), shot.glyphs)
    async with app.run_test(size=shot.size) as pilot:
        await _settle(app)
        for key in shot.keys:
            await pilot.press(key)
            await _settle(app)
        await pilot.pause(0.2)
        return without_fonts(app.export_screenshot(title="Waferscope"))


async def _settle(app: WaferscopeApp) -> None:
    while not app.courier.is_idle or app.main.snapshot is None:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)


def main() -> None:
    """Write all pictures."""
    IMAGES.mkdir(exist_ok=True)
    for shot in SHOTS:
        target = IMAGES / f"{shot.name}.svg"
        target.write_text(asyncio.run(take(shot)), encoding="utf-8")
        print(f"{target.name}: {target.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
