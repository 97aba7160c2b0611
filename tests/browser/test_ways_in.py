"""Ways in and out of the page: palette, library, pictures that restore a view, narrow windows."""

from __future__ import annotations

import base64
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from app.debugger import Debugger
from app.export.view_link import KEYWORD
from app.palette import mark_colour


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_palette_finds_a_command_by_its_help_and_runs_it(page: Page, debugger: Debugger) -> None:
    press(page, "Control+k")
    page.locator("#prompt input").fill("end of the run")
    expect(page.locator("#palette li").first).to_contain_text("last")
    press(page, "Enter")
    page.wait_for_function("s => window.MESH.step === s", arg=debugger.run.timeline.steps - 1)
    press(page, ":")
    page.locator("#prompt input").fill("follow")
    press(page, "Enter")
    expect(page.locator("#prompt input")).to_have_value("sample ")
    page.locator("#prompt input").fill("sample 2")
    press(page, "Enter")
    page.wait_for_function("window.WS.state.cursor.sample === 2")


def test_exported_picture_dropped_on_the_page_restores_the_view(
    page: Page, debugger: Debugger, tmp_path: Path
) -> None:
    page.evaluate("window.WS.act('seek', 9)")
    page.evaluate("window.WS.act('metric', 'traffic')")
    page.evaluate("window.WS.act('pe', 4, 5)")
    press(page, "e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="PNG picture").click()
    waiting.value.save_as(tmp_path / "map.png")
    png = (tmp_path / "map.png").read_bytes()
    assert "pe=4%2C5" in Image.open(BytesIO(png)).info[KEYWORD]
    page.evaluate("window.WS.act('first')")
    page.evaluate("window.WS.act('metric', 'utilization')")
    page.evaluate("window.WS.act('clear')")
    page.evaluate(
        """text => {
            const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], 'map.png', { type: 'image/png' }));
            document.body.dispatchEvent(new DragEvent('drop',
                { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        base64.b64encode(png).decode(),
    )
    page.wait_for_function("window.MESH.step === 9 && window.MESH.metric === 'traffic'")
    page.wait_for_function("String(window.WS.state.cursor.selection.pe) === '4,5'")


def test_library_opens_another_demo_in_this_tab(page: Page) -> None:
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("button", name="cnn", exact=True).click()
    page.wait_for_function("window.WS.state.status.model === 'cnn'", timeout=60_000)
    page.wait_for_function("window.MESH.run === window.WS.state.status.run_id")
    expect(page.locator("#header-facts")).to_contain_text("cnn")


def test_narrow_window_shows_the_map_first_and_never_scrolls_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    box = page.locator("#mesh").bounding_box()
    assert box is not None
    assert box["y"] < 200
    assert box["width"] > 350
    page.locator("#tab-hot").scroll_into_view_if_needed()
    page.click("#tab-hot")
    expect(page.locator("#fill-hot li").first).to_be_visible()


def test_exported_page_rings_the_pe_that_stopped_the_run(
    page: Page, debugger: Debugger, tmp_path: Path
) -> None:
    debugger.do("metric", "traffic")
    debugger.do("watch", "link > 90%")
    debugger.do("first")
    debugger.do("continue")
    hit, view = debugger.hit_mark(), debugger.cursor.viewport
    assert hit is not None
    written = debugger.export(tmp_path / "hit.html")
    assert page.context.browser is not None
    alone = page.context.browser.new_context().new_page()
    alone.goto(written.as_uri())
    alone.wait_for_function("document.body.dataset.ready === '1'")
    expect(alone.locator("#standing")).to_contain_text(hit.text)
    found = alone.evaluate(RINGED, mark_colour("alert", "dark"))
    side = found["width"] / view.cols
    assert found["count"] > 20
    assert abs(found["x"] - (hit.col - view.col + 0.5) * side) <= side
    assert abs(found["y"] - (hit.row - view.row + 0.5) * side) <= side
    alone.context.close()


RINGED = """colour => {
  const canvas = document.getElementById('map');
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let [count, x, y] = [0, 0, 0];
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] !== red || data[i + 1] !== green || data[i + 2] !== blue) continue;
    count += 1;
    x += (i / 4) % canvas.width;
    y += Math.floor(i / 4 / canvas.width);
  }
  return { count, x: x / count, y: y / count, width: canvas.width };
}"""
"""pixels of a colour: how many, and their middle"""
