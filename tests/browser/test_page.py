"""What a user does in the browser, on the mlp demo over a 64x64 mesh."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.debugger import Debugger
from app.session import moves
from tests.browser.conftest import WAIT_MS

PICTURE = "() => document.getElementById('mesh').toDataURL()"


def wait_step(page: Page, step: int) -> None:
    page.wait_for_function("step => window.MESH.step === step", arg=step)


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def pick(page: Page, row: int, col: int) -> None:
    x, y = page.evaluate("([r, c]) => window.WS.mesh.pointOf(r, c)", [row, col])
    page.locator("#mesh").click(position={"x": x, "y": y})


def test_map_is_painted_in_colours(page: Page) -> None:
    page.select_option("#metric", "sram_allocated")
    page.wait_for_function("window.MESH.metric === 'sram_allocated'")
    colours = page.evaluate(
        """() => {
            const c = document.getElementById('mesh');
            const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            return new Set(new Uint32Array(d.buffer)).size;
        }"""
    )
    assert colours > 4


def test_step_forward_and_back_is_the_same_picture(page: Page) -> None:
    press(page, "t", "n")
    page.wait_for_function("window.MESH.step > 0")
    page.evaluate("window.WS.act('seek', 40)")
    wait_step(page, 40)
    before = page.evaluate(PICTURE)
    press(page, "n")
    wait_step(page, 41)
    press(page, "N")
    wait_step(page, 40)
    page.evaluate("window.WS.painted")
    assert page.evaluate(PICTURE) == before


def test_codes_in_the_page_are_those_of_the_engine(page: Page, debugger: Debugger) -> None:
    page.evaluate("window.WS.act('seek', 12)")
    wait_step(page, 12)
    codes = page.evaluate("() => Array.from(window.WS.mesh.scene().codes)")
    assert bytes(codes) == debugger.frame_bytes("utilization", 12)


def test_keyboard_alone_steps_selects_and_zooms(page: Page, debugger: Debugger) -> None:
    press(page, "End")
    wait_step(page, debugger.run.timeline.steps - 1)
    press(page, "Home", "ArrowRight", "j", "l", "f", "2")
    page.wait_for_function("window.MESH.metric === 'cause' && window.MESH.step > 0")
    expect(page.locator("#inspect-title")).to_contain_text("PE (")
    assert debugger.cursor.viewport.rows == 17


def test_held_keys_are_added_up(page: Page, debugger: Debugger) -> None:
    page.evaluate("window.WS.act('stride', 'event')")
    begin = debugger.cursor.step
    press(page, *["n"] * 12)
    wait_step(page, begin + 12)
    assert debugger.cursor.step == begin + 12


def test_stride_by_layer_is_chosen_in_the_bar(page: Page, debugger: Debugger) -> None:
    page.select_option("#stride", "layer")
    page.wait_for_function("window.WS.state.cursor.stride === 'layer'")
    press(page, "Home", "n", "n")
    page.wait_for_function("window.WS.state.status.message.startsWith('sample 0 enters ')")
    stops = moves.stops_of(debugger.run, debugger.cursor)
    assert debugger.cursor.step in stops
    wait_step(page, debugger.cursor.step)


def test_metric_switch_changes_map_and_legend(page: Page) -> None:
    before = page.evaluate(PICTURE)
    page.select_option("#metric", "cause")
    page.wait_for_function("window.MESH.metric === 'cause'")
    expect(page.locator("#legend")).to_contain_text("wait-fabric")
    assert page.evaluate(PICTURE) != before


def test_kernel_types_and_phases_are_maps_with_names(page: Page, debugger: Debugger) -> None:
    page.select_option("#metric", "kind")
    page.wait_for_function("window.MESH.metric === 'kind'")
    expect(page.locator("#legend")).to_contain_text("pointwise")
    expect(page.locator("#map-sentence")).to_contain_text("PEs by kernel type: ")
    codes = page.evaluate("() => Array.from(window.WS.mesh.scene().codes)")
    assert bytes(codes) == debugger.frame_bytes("kind", debugger.cursor.step)
    kernel = debugger.run.program.kernels[0]
    row, col = kernel.region.row, kernel.region.col
    x, y = page.evaluate("([r, c]) => window.WS.mesh.pointOf(r, c)", [row, col])
    page.locator("#mesh").hover(position={"x": x, "y": y})
    expect(page.locator("#hover")).to_contain_text(kernel.family)
    page.select_option("#metric", "phase")
    page.wait_for_function("window.MESH.metric === 'phase'")
    expect(page.locator("#legend")).to_contain_text("no phase")


def test_click_selects_a_pe_and_the_inspector_shows_it(page: Page, debugger: Debugger) -> None:
    kernel = debugger.run.program.kernels[0]
    row, col = kernel.region.row + 1, kernel.region.col + 1
    pick(page, row, col)
    expect(page.locator("#inspect-title")).to_have_text(f"PE ({row}, {col})")
    expect(page.locator("#panel-inspect")).to_contain_text(kernel.id)
    expect(page.locator("#panel-inspect .strip .block").first).to_be_visible()
    assert debugger.cursor.selection.pe == (row, col)


def test_hover_gives_exact_cycles(page: Page, debugger: Debugger) -> None:
    region = debugger.run.program.kernels[0].region
    x, y = page.evaluate("([r, c]) => window.WS.mesh.pointOf(r, c)", [region.row, region.col])
    box = page.locator("#mesh").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + y)
    expect(page.locator("#hover")).to_contain_text(f"PE ({region.row}, {region.col})")
    expect(page.locator("#hover")).to_contain_text(re.compile(r"\d+ of \d+ cycles"))


def test_wheel_zooms_around_the_pointer(page: Page, debugger: Debugger) -> None:
    k = page.evaluate("window.MESH.k")
    page.locator("#mesh").hover(position={"x": 300, "y": 200})
    page.mouse.wheel(0, -400)
    page.wait_for_function("k => window.MESH.k > 1.5 * k", arg=k)
    page.wait_for_function("() => window.WS.state.cursor.viewport.rows < 60")
    assert debugger.cursor.viewport.rows < 60


def test_kernel_in_the_table_is_selected(page: Page, debugger: Debugger) -> None:
    name = debugger.run.program.kernels[-1].id
    page.click("#tab-kernels")
    page.click(f"tr[data-kernel='{name}'] button")
    row = page.locator(f"tr[data-kernel='{name}']")
    expect(row).to_have_attribute("aria-selected", "true")
    assert debugger.cursor.selection.kernel == name


def test_idle_region_jumps_to_the_map(page: Page, debugger: Debugger) -> None:
    press(page, "i")
    page.locator("#panel-idle button.link").first.click()
    page.wait_for_function("window.WS.state.cursor.selection.kind === 'region'")
    assert debugger.cursor.selection.region is not None


def test_click_on_the_timeline_seeks(page: Page, debugger: Debugger) -> None:
    page.locator("#time").click(position={"x": 700, "y": 20})
    begin = moves.start(debugger.run).step
    page.wait_for_function("step => window.MESH.step > step", arg=begin)
    assert debugger.cursor.step > begin


def test_knob_recompiles_and_the_delta_appears(page: Page, debugger: Debugger) -> None:
    old = debugger.run.timeline.makespan
    page.fill("#knob-samples", "2")
    page.press("#knob-samples", "Enter")
    page.wait_for_function(
        "() => window.WS.state.status.samples === 2 && window.WS.state.status.job.state === 'done'"
    )
    expect(page.locator("#delta")).to_contain_text("samples = 2")
    expect(page.locator("#delta")).to_contain_text("makespan")
    assert debugger.run.timeline.makespan < old
    page.wait_for_function("run => window.MESH.run === run", arg=debugger.run.id)
    page.click("#undo")
    page.wait_for_function("window.WS.state.status.samples === 4")
    page.wait_for_function("run => window.MESH.run === run", arg=debugger.run.id)
    assert debugger.run.timeline.makespan == old


def test_wrong_knob_value_is_refused_in_a_sentence(page: Page) -> None:
    page.fill("#knob-max_chunks", "99")
    page.press("#knob-max_chunks", "Enter")
    expect(page.locator("#toast")).to_contain_text("must be 1..8")
    expect(page.locator("#knob-max_chunks")).to_have_value("8")


def test_help_lists_commands_and_closes(page: Page) -> None:
    press(page, "?")
    expect(page.locator("#help")).to_be_visible()
    expect(page.locator("#help")).to_contain_text("next stop of the stride")
    press(page, "Escape")
    expect(page.locator("#help")).to_be_hidden()


def test_command_line_runs_and_refuses(page: Page) -> None:
    press(page, ":")
    page.locator("#prompt input").fill("seek 7")
    press(page, "Enter")
    wait_step(page, 7)
    press(page, ":")
    page.locator("#prompt input").fill("sek 9")
    press(page, "Enter")
    expect(page.locator("#toast")).to_contain_text("did you mean 'seek'")


def test_play_steps_by_itself_and_stops(page: Page) -> None:
    page.evaluate("window.WS.act('stride', 'event')")
    begin = page.evaluate("window.MESH.step")
    press(page, "]", "]", "Space")
    page.wait_for_function("step => window.MESH.step > step", arg=begin + 4)
    expect(page.locator("#play")).to_have_attribute("aria-pressed", "true")
    press(page, "Space")
    expect(page.locator("#play")).to_have_attribute("aria-pressed", "false")


def test_export_downloads_a_picture(page: Page, tmp_path: Path) -> None:
    press(page, "e")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="PNG picture").click()
    waiting.value.save_as(tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_fit_right_after_the_wheel_shows_the_whole_mesh(page: Page, debugger: Debugger) -> None:
    k = page.evaluate("window.MESH.k")
    page.locator("#mesh").hover(position={"x": 300, "y": 200})
    page.mouse.wheel(0, -400)
    press(page, "0")
    page.wait_for_function("() => window.WS.state.cursor.viewport.rows === 64")
    page.wait_for_function("k => Math.abs(window.MESH.k - k) < 0.35 * k", arg=k)


def test_address_brings_the_view_back(page: Page) -> None:
    page.evaluate("window.WS.act('seek', 9)")
    page.evaluate("window.WS.sendBox([2, 3, 20, 21])")
    page.evaluate("window.WS.act('metric', 'traffic')")
    page.wait_for_function("location.hash.includes('traffic') && location.hash.includes('step=9')")
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_function(
        "window.MESH && window.MESH.metric === 'traffic' && window.MESH.step === 9",
        timeout=WAIT_MS,
    )
    other.wait_for_function("JSON.stringify(window.WS.mesh.box) === '[2,3,20,21]'")
    other.close()


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_page_never_scrolls_and_the_map_gets_the_most(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    size = page.evaluate(
        "() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    )
    assert size == [width, height]
    box = page.locator("#mesh").bounding_box()
    assert box is not None
    assert box["width"] * box["height"] > 0.33 * width * height


def test_sentence_about_the_map_covers_no_row_of_it(page: Page, debugger: Debugger) -> None:
    page.evaluate("window.WS.act('metric', 'traffic')")
    page.evaluate("window.WS.act('peak')")
    page.wait_for_function("window.MESH.metric === 'traffic'")
    long = "utilization: highest of all " + 9 * "and more words "
    page.evaluate("text => { document.getElementById('map-sentence').textContent = text; }", long)
    last = debugger.run.grid[0] - 1
    y = page.evaluate("row => window.WS.mesh.pointOf(row, 0)[1]", last)
    k = page.evaluate("window.MESH.k")
    mesh, told = (page.locator(name).bounding_box() for name in ("#mesh", "#map-sentence"))
    assert mesh is not None
    assert told is not None
    assert told["height"] > 30
    assert mesh["y"] + y + k / 2 <= told["y"] + 1


def test_theme_switch_is_kept(page: Page) -> None:
    first = page.evaluate("document.documentElement.dataset.theme")
    page.get_by_role("button", name="Theme").click()
    page.reload()
    page.wait_for_function("window.MESH && window.MESH.painted > 0")
    assert page.evaluate("document.documentElement.dataset.theme") != first


def test_frame_that_was_missing_is_asked_for_again(page: Page) -> None:
    page.route("**/api/frame/**/traffic/*", lambda route: route.fulfill(status=204), times=1)
    page.select_option("#metric", "traffic")
    page.wait_for_function("window.MESH.metric === 'traffic'")
