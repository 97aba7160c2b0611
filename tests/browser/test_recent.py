"""The runs of a tab in the dialog Open: shown again, deleted, by mouse and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect


@pytest.fixture
def rows(page: Page) -> Locator:
    """Open a second model from step 12 of the first, then the dialog; returns the rows."""
    page.evaluate("window.WS.act('seek', 12)")
    page.wait_for_function("window.MESH.step === 12")
    page.evaluate("window.WS.openNamed('cnn')")
    expect(page.locator("#toast")).to_contain_text("cnn is open", timeout=60_000)
    return open_dialog(page)


def open_dialog(page: Page) -> Locator:
    page.get_by_role("button", name="Open", exact=True).click()
    rows = page.locator("#recent li")
    expect(rows.first).to_be_visible()
    return rows


def test_run_is_shown_again_as_it_was_left(page: Page, rows: Locator) -> None:
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("shown now")
    expect(rows.nth(1)).to_contain_text("cycles, opened just now")
    model = rows.nth(1).locator("b").inner_text()
    rows.nth(1).locator(".run").click()
    expect(page.locator("#toast")).to_contain_text(f"{model} is open")
    page.wait_for_function("window.MESH.run === window.WS.state.status.run_id")
    page.wait_for_function("window.MESH.step === 12")
    assert page.evaluate("window.WS.state.status.model") == model
    expect(open_dialog(page).nth(0)).to_contain_text(model)


def test_keyboard_reopens_and_deletes(page: Page, rows: Locator) -> None:
    second = rows.nth(0).locator("b").inner_text()
    expect(rows.nth(0).locator(".run")).to_be_focused()
    page.keyboard.press("Tab")
    expect(rows.nth(1).locator(".run")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_function("window.MESH.step === 12")
    rows = open_dialog(page)
    expect(rows.nth(1)).to_contain_text(second)
    page.keyboard.press("Tab")
    page.keyboard.press("Delete")
    expect(rows).to_have_count(1)
    expect(rows.nth(0).locator(".run")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.wait_for_function("window.MESH.step > 12")


def test_another_tab_does_not_see_the_runs_and_delete_is_a_button_too(
    page: Page, rows: Locator
) -> None:
    other = page.context.new_page()
    other.goto(page.url.split("#")[0])
    other.wait_for_function("window.MESH && window.MESH.painted > 0")
    expect(open_dialog(other)).to_have_count(1)
    other.close()
    rows.nth(1).get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(1)
    expect(rows.nth(0)).to_contain_text("shown now")
