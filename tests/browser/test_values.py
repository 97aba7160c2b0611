"""Values in the browser: a key computes them, the panel and the inspector show them."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from app.debugger import Debugger


def test_a_key_computes_values_and_the_panel_shows_them(page: Page, debugger: Debugger) -> None:
    page.keyboard.press("T")
    panel = page.locator("#panel-values")
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("V (values) computes")
    page.keyboard.press("V")
    expect(panel).to_contain_text("largest error of 3 tensors")
    expect(panel.locator("tr", has_text="scores")).to_contain_text("4x10")
    panel.get_by_role("button", name="fc0").first.click()
    page.wait_for_function("WS.state.cursor.selection.kernel === 'fc0'")
    assert debugger.cursor.selection.kernel == "fc0"


def test_the_inspector_shows_what_a_pe_keeps(page: Page, debugger: Debugger) -> None:
    debugger.do("values")
    debugger.wait(60)
    page.evaluate("WS.run('pe', [0, 0])")
    view = debugger.view_pe(0, 0)
    assert view is not None
    assert view.values is not None
    expect(page.locator("#panel-inspect")).to_contain_text(view.values.sentence)
