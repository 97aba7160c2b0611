"""Make the pictures of the browser in docs/images: `python docs/make_screenshots.py [NAME]...`.

Needs the `dev` extra and a Chromium (CHROMIUM names it, /usr/bin/chromium otherwise). Each picture
is a demo model brought to one moment by the commands a user would type; NAME takes those whose
name begins so. Every panel is taken dark and light, at 1280x800 and 1920x1080, and one at the width
of a phone.
"""

from __future__ import annotations

import io
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from werkzeug.serving import make_server

from app.debugger import Debugger
from app.web import Registry, create_app
from engine.machine import parse_machine
from lowering.config import CompileConfig

IMAGES = Path(__file__).with_name("images")
STEPS = Path(__file__).parents[1] / "tests" / "data" / "train_steps"
"""captured training steps"""
SIZES = ((1280, 800), (1920, 1080))
PHONE = (390, 844)
_SETTLE_MS = 900
_QUALITY = 60
_AT_REST = "!window.WS.state.status.job || window.WS.state.status.job.state !== 'running'"
_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-sync"]

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """What is opened."""

    model: str
    """name of a demo, or a file"""
    machine: str = ""
    """name of a machine, empty for the default"""
    mode: str = "auto"


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture."""

    name: str
    """file name without ending"""
    run: Run
    commands: tuple[Words, ...]
    """commands with their arguments, in order; each waits for the work it starts"""
    tab: str = "inspect"
    """panel on the right"""
    size: tuple[int, int] = SIZES[0]
    """(width, height) of the window, pixels"""
    theme: str = "dark"
    """dark | light"""
    clicks: tuple[str, ...] = ()
    """selectors clicked at last"""


TRANSFORMER = Run("transformer")
GPT2 = Run("gpt2-small")
STREAMED = Run("gpt2-small", mode="streaming")
TRAINED = Run(str(STEPS / "gpt2_2l.onnx"), "mesh-32x32", "streaming")
TIGHT = Run("gpt2-small", "mesh-128x128", "pipeline")
MIDDLE: tuple[Words, ...] = (("cycle", "15600"), ("kernel", "h1/mlp/fc"))

PANELS = (
    Shot("overview", GPT2, (("cycle", "900000"),), "overview"),
    Shot("inspect", GPT2, (("metric", "cause"), ("cycle", "900000"), ("pe", "400", "110")),
         "inspect"),
    Shot("kernels", TRANSFORMER, (("metric", "utilization"), *MIDDLE), "kernels"),
    Shot("graph", TRANSFORMER, (*MIDDLE, ("fold", "h1"), ("fold", "h1/mlp")), "graph"),
    Shot("memory", GPT2, (("metric", "sram_allocated"), ("cycle", "900000")), "memory"),
    Shot("activations", TRAINED, (("metric", "sram_live"), ("cycle", "90000")), "activations"),
    Shot("turn", TRAINED, (("set", "optimizer", "host"), ("metric", "traffic"),
                           ("cycle", "151450")), "turn"),
    Shot("roofline", STREAMED, (("cycle", "900000"), ("kernel", "h3/mlp/fc")), "roofline"),
    Shot("idle", TRANSFORMER, (("metric", "cause"), *MIDDLE), "idle"),
    Shot("why", TRANSFORMER, (("metric", "cause"), ("cycle", "15600"),
                              ("kernel", "h1/attn/proj")), "why"),
    Shot("hot", TRANSFORMER, (("metric", "traffic"), ("peak",)), "hot"),
    Shot("breaks", TRANSFORMER, (("metric", "traffic"), ("watch", "link > 90%"), ("first",),
                                 ("continue",)), "breaks"),
    Shot("advice", TRANSFORMER, (("cycle", "15600"), ("advise", "8")), "advice"),
    Shot("compare", TRANSFORMER, (("set", "slots", "4"), ("compare",), ("cycle", "15600")),
         "compare", clicks=("[data-do=difference]:not([data-args=off])",)),
    Shot("values", TRANSFORMER, (("values",), *MIDDLE), "values"),
    Shot("report", TRANSFORMER, MIDDLE, "report"),
)  # fmt: skip
"""one a panel, each taken in both themes and sizes"""

WALK = (
    Shot("walk-1-does-not-fit", TIGHT, (("metric", "sram_allocated"), ("cycle", "900000")),
         "memory", clicks=("#notice summary",)),
    Shot("walk-2-fits", TIGHT, (("metric", "sram_allocated"), ("set", "dtype", "fp16"),
                                ("cycle", "900000")), "memory"),
    Shot("walk-3-what-holds", TIGHT, (("set", "dtype", "fp16"), ("cycle", "900000"),
                                      ("metric", "utilization")), "roofline"),
    Shot("walk-4-streamed", TIGHT, (("set", "mode", "streaming"), ("peak",)),
         "roofline"),
)  # fmt: skip
"""the steps of docs/walkthrough.md"""

MODES = (
    Shot("modes-outside", TRAINED, (("set", "spill_mb", "0.2"), ("metric", "sram_live"),
                                    ("cycle", "90000")), "activations"),
)  # fmt: skip
"""pictures of docs/modes.md"""


def every_shot() -> list[Shot]:
    """Return all pictures, those of one run together."""
    shots = [
        replace(panel, name=f"{panel.name}-{theme}-{size[0]}", theme=theme, size=size)
        for panel in PANELS
        for theme in ("dark", "light")
        for size in SIZES
    ]
    phones = [replace(panel, name=f"phone-{panel.name}", size=PHONE)
              for panel in PANELS if panel.name in ("inspect", "graph", "roofline")]  # fmt: skip
    return sorted([*shots, *phones, *WALK, *MODES], key=lambda shot: str(shot.run))


@contextmanager
def serving(run: Run) -> Iterator[str]:
    """Serve a run and give its address."""
    config = CompileConfig(mode=run.mode)
    if run.machine:
        config = replace(config, machine=parse_machine(run.machine))
    app = create_app(Registry(Debugger.open(run.model, config))).server
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def prepare(page: Page, address: str, shot: Shot) -> None:
    """Bring a page to the moment of a picture."""
    page.goto(address)
    page.wait_for_function("window.MESH && window.MESH.painted > 0")
    for command in shot.commands:
        page.evaluate("([id, ...args]) => window.WS.act(id, ...args)", list(command))
        page.wait_for_function(_AT_REST, timeout=120_000)
    page.evaluate("tab => window.WS.showTab(tab)", shot.tab)
    for selector in shot.clicks:
        page.click(selector)
    page.wait_for_timeout(_SETTLE_MS)
    if shot.size == PHONE:
        page.evaluate("document.querySelector('.tab-bar').scrollIntoView({ block: 'start' })")
        page.mouse.wheel(0, -120)  # the page's header stays on top
    page.evaluate("window.WS.toast('')")
    page.wait_for_timeout(300)


def take(browser: Browser, address: str, shot: Shot) -> Path:
    """Take one picture and return its file."""
    page = browser.new_page(
        viewport={"width": shot.size[0], "height": shot.size[1]},
        color_scheme="light" if shot.theme == "light" else "dark",
    )
    prepare(page, address, shot)
    target = IMAGES / f"{shot.name}.webp"
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").save(target, "WEBP", quality=_QUALITY, method=6)
    page.close()
    return target


def main() -> None:
    """Take the pictures asked for, all by default."""
    IMAGES.mkdir(exist_ok=True)
    wanted = tuple(sys.argv[1:]) or ("",)
    shots = [shot for shot in every_shot() if shot.name.startswith(wanted)]
    with sync_playwright() as play:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = play.chromium.launch(executable_path=path, args=_ARGS)
        for run, some in groupby(shots, key=lambda shot: shot.run):
            with serving(run) as address:
                for shot in some:
                    print(take(browser, address, shot), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
