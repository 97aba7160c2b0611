"""Make the pictures of the browser face in docs/images: `python docs/make_screenshots.py`.

Needs the `dev` extra and a Chromium (CHROMIUM names it, /usr/bin/chromium otherwise). Each picture
is one demo model brought to one moment by the commands a user would type.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from werkzeug.serving import make_server

from app.debugger import Debugger
from app.web import Registry, create_app

IMAGES = Path(__file__).with_name("images")
_SETTLE_MS = 1500


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture."""

    name: str
    """file name without ending"""
    model: str
    """name of a demo"""
    size: tuple[int, int]
    """(width, height) of the window, pixels"""
    theme: str
    """dark | light"""
    commands: tuple[tuple[str, ...], ...]
    """commands with their arguments, in order"""
    tab: str = "inspect"
    """panel on the right"""


SHOTS = (
    Shot("web-causes-dark", "gpt2-small", (1280, 800), "dark",
         (("cycle", "900000"), ("metric", "cause"), ("kernel", "logits"))),
    Shot("web-utilization-light", "transformer", (1920, 1080), "light",
         (("cycle", "15600"), ("kernel", "h1/mlp/fc")), "kernels"),
    Shot("web-sram-dark", "gpt2-small", (1920, 1080), "dark",
         (("metric", "sram_allocated"), ("cycle", "900000"), ("hot",))),
    Shot("web-traffic-light", "transformer", (1280, 800), "light",
         (("metric", "traffic"), ("peak",), ("kernel", "h0/mlp/fc")), "idle"),
)  # fmt: skip


@contextmanager
def serving(model: str) -> Iterator[str]:
    """Serve a demo model and give its address."""
    app = create_app(Registry(Debugger.open(model))).server
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def take(browser: Browser, shot: Shot) -> Path:
    """Take one picture and return its file."""
    width, height = shot.size
    target = IMAGES / f"{shot.name}.png"
    with serving(shot.model) as address:
        page = browser.new_page(
            viewport={"width": width, "height": height},
            color_scheme="light" if shot.theme == "light" else "dark",
        )
        page.goto(address)
        page.wait_for_function("window.MESH && window.MESH.painted > 0")
        for command in shot.commands:
            page.evaluate("command => window.WS.act(...command)", list(command))
        page.click(f"#tab-{shot.tab}")
        page.wait_for_timeout(_SETTLE_MS)
        page.evaluate("window.WS.toast('')")
        page.wait_for_timeout(300)
        page.screenshot(path=target)
        page.close()
    return target


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as play:
        path = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = play.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-sync"]
        )
        for shot in SHOTS:
            print(take(browser, shot))
        browser.close()


if __name__ == "__main__":
    main()
