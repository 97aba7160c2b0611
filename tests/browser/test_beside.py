"""Two runs side by side: the same place, the same progress, painted together."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from app.comparison.compare import progress_at, tied_step
from app.debugger import Debugger

TIED = """() => { const m = window.MESH, b = m.beside;
  return b && m.step === window.WS.state.cursor.step && m.metric === b.metric
    && m.k === b.k && m.ox === b.ox && m.oy === b.oy; }"""
COLOURS = """id => {
  const c = document.getElementById(id);
  const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
  return new Set(new Uint32Array(data.buffer)).size; }"""


@pytest.fixture
def two(page: Page) -> Page:
    """Compare two samples with four and show both."""
    page.evaluate("window.WS.act('set', 'samples', 2)")
    page.wait_for_function("(s => s && s.job && s.job.state === 'done')(window.WS.state.status)")
    page.evaluate("window.WS.act('compare')")
    page.evaluate("window.WS.showTab('compare')")
    page.click("#fill-compare [data-do=beside]")
    page.wait_for_function(TIED)
    return page


def tied(page: Page) -> Any:
    page.wait_for_function(TIED)
    return page.evaluate("[window.MESH.step, window.MESH.beside.step, window.MESH.beside.run]")


def test_steps_metric_and_viewport_are_tied(two: Page, debugger: Debugger) -> None:
    a, b = debugger.compared, debugger.run
    assert a is not None
    for key in ("End", "Home", "n"):
        two.keyboard.press(key)
        two.wait_for_timeout(300)
        step, other, run = tied(two)
        assert (other, run) == (tied_step(a, progress_at(b, step)), a.id)
    two.evaluate("window.WS.act('metric', 'traffic')")
    two.wait_for_function("window.MESH.metric === 'traffic'")
    tied(two)
    expect(two.locator("#beside-caption")).to_contain_text("A: ")
    assert two.evaluate(COLOURS, "mesh-a") > 4


def test_wheel_and_drag_on_either_map_move_both(two: Page) -> None:
    before = two.evaluate("window.MESH.k")
    two.locator("#mesh-a").hover(position={"x": 120, "y": 90})
    two.mouse.wheel(0, -400)
    two.wait_for_function("k => window.MESH.k > k", arg=before)
    tied(two)
    ox = two.evaluate("window.MESH.ox")
    two.mouse.down()
    two.mouse.move(20, 20, steps=3)
    two.mouse.up()
    two.wait_for_function("ox => window.MESH.ox !== ox", arg=ox)
    tied(two)


def test_same_button_and_the_end_of_the_comparison_hide_it(two: Page) -> None:
    wide = two.evaluate("document.getElementById('mesh').clientWidth")
    two.click("#fill-compare [data-do=beside]")
    expect(two.locator("#beside")).to_be_hidden()
    two.wait_for_function("w => document.getElementById('mesh').clientWidth > 1.8 * w", arg=wide)
    two.click("#fill-compare [data-do=beside]")
    tied(two)
    two.evaluate("window.WS.act('compare', 'off')")
    expect(two.locator("#beside")).to_be_hidden()
    two.evaluate("window.WS.setBeside(true)")
    expect(two.locator("#toast")).to_contain_text("Nothing is compared")


def test_a_shared_address_opens_both_runs_again(two: Page) -> None:
    two.evaluate("window.WS.act('seek', 9)")
    two.wait_for_function("location.hash.includes('step=9')")
    expected = tied(two)
    link = two.url
    assert "beside=1" in link
    assert "knob=samples%3D2" in link
    other = two.context.browser.new_context().new_page()
    other.goto(link)
    other.wait_for_function(TIED)
    assert tied(other)[:2] == expected[:2]
    assert other.evaluate("window.WS.state.status.samples") == 2
    other.context.close()
    two.click("#fill-compare [data-do=beside]")
    two.wait_for_function("!location.hash.includes('beside')")


def test_a_link_that_names_a_file_as_a_knob_changes_nothing(page: Page) -> None:
    page.goto(f"{page.url.split('#')[0]}#step=3&compare=0&knob=machine%3D%2Fetc%2Fpasswd&beside=1")
    page.reload()
    page.wait_for_function("window.WS && window.WS.state && window.WS.state.cursor.step === 3")
    assert page.evaluate("window.WS.state.knobs.history") == []
    expect(page.locator("#beside")).to_be_hidden()
