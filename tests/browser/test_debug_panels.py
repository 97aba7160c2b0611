"""The panels that answer why, judge and compare, on the mlp demo over a 64x64 mesh."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from app.debugger import Debugger
from app.palette import mark_colour
from app.views.build_streaming import view_streaming
from tests.app.sessions import mlp_streaming
from tests.browser.conftest import LiveServer


def page_theme(page: Page) -> str:
    return str(page.evaluate("document.documentElement.dataset.theme"))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_watchpoint_is_added_stops_both_ways_and_goes(page: Page, debugger: Debugger) -> None:
    press(page, "B")
    page.fill("#break-text", "link > 50%")
    page.click("[data-from=break-text][data-do=watch]")
    expect(page.locator("#fill-breaks")).to_contain_text("watch 1")
    page.click("#panel-breaks [data-do=continue]")
    expect(page.locator("#fill-breaks")).to_contain_text("Why it stopped")
    stopped = debugger.cursor.step
    press(page, "c")
    page.wait_for_function("step => window.MESH.step > step", arg=stopped)
    press(page, "C")
    page.wait_for_function("step => window.MESH.step === step", arg=stopped)
    page.click("#fill-breaks [data-do=disable]")
    expect(page.locator("#fill-breaks .card.off")).to_be_visible()
    page.click("#fill-breaks [data-do=enable]")
    page.click("#fill-breaks [data-do=once]")
    expect(page.locator("#fill-breaks")).to_contain_text("on, once")
    page.click("#fill-breaks [data-do=ignore]")
    expect(page.locator("#fill-breaks")).to_contain_text("passes 1")
    page.click("#fill-breaks [data-do=delete]")
    expect(page.locator("#fill-breaks .card")).to_have_count(0)


RING_AT = """([row, col]) => {
    const canvas = document.getElementById('mesh');
    const [x, y] = window.WS.mesh.pointOf(row, col).map((at) => at * window.WS.mesh.ratio);
    const side = window.WS.mesh.k;
    const radius = Math.max(side * 0.75, 11 * window.WS.mesh.ratio);
    const at = canvas.getContext('2d').getImageData(x - radius, y, 1, 1).data;
    return '#' + [...at].slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join('');
}"""


def test_the_map_marks_the_link_that_stopped_the_run(page: Page, debugger: Debugger) -> None:
    page.evaluate("window.WS.act('until', 'link > 50%')")
    page.wait_for_function(
        "window.WS.state.hit && window.MESH.step === window.WS.state.status.step"
    )
    hit = debugger.hit_mark()
    assert hit is not None
    expect(page.locator("#mesh")).to_have_attribute("aria-label", re.compile("turned true .*PE "))
    page.evaluate("window.WS.painted")
    assert page.evaluate(RING_AT, [hit.row, hit.col]) == mark_colour("alert", page_theme(page))
    page.evaluate("window.WS.act('event')")
    page.wait_for_function("window.WS.state.hit === null")
    expect(page.locator("#mesh")).not_to_have_attribute("aria-label", re.compile("turned true"))


def test_condition_that_makes_no_sense_is_refused(page: Page) -> None:
    press(page, "B")
    page.fill("#break-text", "sramm > 1KB")
    page.press("#break-text", "Enter")
    expect(page.locator("#toast")).to_contain_text("sram")
    expect(page.locator("#toast")).to_have_class(re.compile("alert"))


def test_hot_link_selects_its_pe_and_shows_its_metric(page: Page, debugger: Debugger) -> None:
    press(page, "H")
    row = debugger.find_hot().rows[0]
    page.locator("#fill-hot button.link").first.click()
    page.wait_for_function("window.MESH.metric.match(/link_|traffic/)")
    page.wait_for_function("window.WS.state.cursor.viewport.rows < 64")
    assert debugger.cursor.selection.pe == (row.row, row.col)


def test_why_goes_from_a_kernel_back_to_the_models_nodes(page: Page) -> None:
    page.evaluate("window.WS.act('kernel', 'fc1')")
    press(page, "X")
    expect(page.locator("#fill-why")).to_contain_text("fc1")
    expect(page.locator("#fill-why")).to_contain_text("placement")
    page.fill("#why-text", "step 9")
    page.press("#why-text", "Enter")
    expect(page.locator("#fill-why h2")).to_contain_text("step 9")


def test_overview_names_what_holds_the_makespan(page: Page, debugger: Debugger) -> None:
    press(page, "O")
    view = debugger.view_bottleneck()
    expect(page.locator("#fill-overview")).to_contain_text(view.sentence)
    page.click(f"#fill-overview button.link:has-text('{view.kernel}')")
    page.wait_for_function("window.WS.state.cursor.selection.kind === 'kernel'")
    assert debugger.cursor.selection.kernel == view.kernel


def test_advice_is_tried_and_gives_gains(page: Page, debugger: Debugger) -> None:
    press(page, "A")
    page.click("#fill-advice [data-do=advise]")
    expect(page.locator("#fill-advice")).to_contain_text("have a change that gains", timeout=30_000)
    expect(page.locator("#fill-advice [data-do=optimize]")).to_be_visible()
    assert debugger.view_advice().is_tried


def test_compare_shows_the_table_and_the_difference_map(page: Page) -> None:
    page.fill("#knob-samples", "2")
    page.press("#knob-samples", "Enter")
    page.wait_for_function(
        "() => window.WS.state.status.samples === 2 && window.WS.state.status.job.state === 'done'"
    )
    page.evaluate("window.WS.act('metric', 'utilization')")
    plain = page.evaluate("() => document.getElementById('mesh').toDataURL()")
    press(page, "d")
    page.wait_for_function("window.MESH.difference === 'run'")
    expect(page.locator("#fill-compare")).to_contain_text("samples: 4 to 2")
    expect(page.locator("#fill-compare")).to_contain_text("makespan")
    expect(page.locator("#legend")).to_contain_text("B less A")
    assert page.evaluate("() => document.getElementById('mesh').toDataURL()") != plain
    page.click("#fill-compare [data-do=difference][data-args=off]")
    page.wait_for_function("window.MESH.difference === 'off'")
    expect(page.locator("#legend")).to_contain_text("one scale")


def test_difference_shows_though_what_the_run_is_comes_late(page: Page) -> None:
    page.evaluate(
        """() => {
          const real = window.fetch;
          const late = [['/api/run/', 600], ['/api/difference/', 1500]];
          window.fetch = async (path, options) => {
            const answer = await real(path, options);
            const at = late.findIndex(([part]) => path.includes(part));
            if (at < 0) return answer;
            const [[, wait]] = late.splice(at, 1);
            await new Promise((resolve) => { setTimeout(resolve, wait); });
            return answer;
          };
        }"""
    )
    page.fill("#knob-samples", "2")
    page.press("#knob-samples", "Enter")
    page.wait_for_function(
        "() => window.WS.state.status.samples === 2 && window.WS.state.status.job.state === 'done'"
    )
    press(page, "d")
    page.wait_for_function("window.MESH.difference === 'run'")
    expect(page.locator("#legend")).to_contain_text("B less A")


def test_streaming_run_outlines_the_kernel_whose_turn_it_is(page: Page) -> None:
    session = mlp_streaming()
    steps = range(session.run.timeline.steps)
    shown = [(step, view_streaming(session.run, step)) for step in steps]
    step, view = next((s, v) for s, v in shown if v is not None and v.arriving and s > 3)
    server = LiveServer(session)
    other = page.context.new_page()
    other.goto(server.address)
    other.wait_for_function("window.MESH && window.MESH.painted > 0")
    _, cols = session.run.grid
    map_ends = other.evaluate("cols => window.WS.mesh.pointOf(0, cols - 1)[0]", cols)
    area, plate = (other.locator(name).bounding_box() for name in ("#mesh", "#arriving"))
    assert area is not None
    assert plate is not None
    assert area["x"] + map_ends < plate["x"]
    other.evaluate("step => window.WS.act('seek', step)", step)
    expect(other.locator("#turn-headline")).to_have_text(view.headline)
    expect(other.locator("#turn-phases li")).to_have_text([p.brief for p in view.phases])
    rows = [row.sentence for row in view.arriving[:3]]
    expect(other.locator("#arrivals li")).to_have_text(rows)
    other.keyboard.press("W")
    expect(other.locator("#fill-turn")).to_contain_text(view.sentence)
    expect(other.locator("#fill-turn .phases li")).to_have_count(len(view.phases))
    other.keyboard.press("a")
    found = session.view_activations()
    expect(other.locator("#fill-activations")).to_contain_text(found.sentence)
    expect(other.locator("#fill-activations tbody tr")).to_have_count(len(found.rows))
    other.locator("#fill-activations tbody tr .link").first.click()
    other.wait_for_function(
        "name => window.WS.state.cursor.selection.kernel === name", arg=found.rows[0].made_by
    )
    other.close()
    server.stop()
