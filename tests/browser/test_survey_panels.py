"""The panels about the whole program, on the mlp demo over a 64x64 mesh."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from app.debugger import Debugger


def test_memory_goes_to_a_kernel_and_back_to_the_wafer(page: Page, debugger: Debugger) -> None:
    page.keyboard.press("P")
    view = debugger.view_memory()
    expect(page.locator("#fill-memory")).to_contain_text(view.sentence)
    strips = page.locator("#fill-memory .touch")
    expect(strips).to_have_count(len(view.points))
    strips.last.click()
    expect(page.locator("#fill-memory")).to_contain_text(f"PEs of {view.points[-1].kernel}")
    assert debugger.cursor.selection.kernel == view.points[-1].kernel
    page.click("#fill-memory [data-do=clear]")
    expect(strips).to_have_count(len(view.points))


def test_point_of_the_roofline_selects_its_kernel(page: Page, debugger: Debugger) -> None:
    page.keyboard.press("R")
    view = debugger.view_roofline()
    expect(page.locator("#fill-roofline")).to_contain_text(view.sentence)
    dots = page.locator("#fill-roofline .dot")
    expect(dots).to_have_count(len(view.points))
    dots.last.click(force=True)
    expect(page.locator("#fill-roofline .dot .chosen")).to_have_count(2)
    expect(page.locator("#fill-roofline tr[aria-selected=true]")).to_have_count(1)
    assert debugger.cursor.selection.kernel in {point.kernel for point in view.points}


def test_graph_opens_scopes_and_is_linked_to_the_map(page: Page, debugger: Debugger) -> None:
    page.keyboard.press("G")
    opener = page.locator("#fill-graph .opener").first
    closed = page.locator("#fill-graph .node:not(.opener)").count()
    scope = debugger.view_graph().boxes[0].id
    expect(opener).to_have_accessible_name(f"open {scope}")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#fill-graph .folds")).to_contain_text(scope)
    assert page.locator("#fill-graph .node:not(.opener)").count() > closed
    page.evaluate("window.WS.act('kernel', 'scores')")
    chosen = page.locator("#fill-graph .node.chosen").first
    expect(chosen).to_have_attribute("aria-pressed", "true")
    page.evaluate("window.WS.act('clear')")
    page.get_by_role("button", name="relu0 (Relu) on kernel fc0").click()
    page.wait_for_function("window.WS.state.cursor.selection.kernel === 'fc0'")
