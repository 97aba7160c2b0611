"""A larger model opened in a tab: progress, cancel, and the tab goes on meanwhile."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from app.debugger import Debugger


def test_progress_is_shown_and_cancel_keeps_the_run(page: Page, debugger: Debugger) -> None:
    page.evaluate("window.WS.openNamed('gpt2-small')")
    cover = page.locator("#cover")
    expect(cover).to_contain_text("Opening gpt2-small")
    expect(cover.locator("progress")).to_be_visible()
    page.evaluate("window.WS.act('seek', 12)")
    page.wait_for_function("window.WS.state.cursor.step === 12")
    assert debugger.cursor.step == 12
    cover.get_by_role("button", name="Cancel").click()
    expect(page.locator("#toast")).to_contain_text("gpt2-small was not opened")
    expect(cover).to_be_hidden()
    page.keyboard.press("Home")
    page.wait_for_function("window.MESH.step === 0")
    assert page.evaluate("window.WS.state.status.model") == debugger.view_status().model


def test_model_is_there_when_it_is_compiled(page: Page) -> None:
    page.evaluate("window.WS.act('seek', 12)")
    page.evaluate("window.WS.openNamed('gpt2-small')")
    expect(page.locator("#toast")).to_contain_text("gpt2-small is open", timeout=60_000)
    page.wait_for_function("window.MESH.run === window.WS.state.status.run_id")
    assert page.evaluate("window.WS.state.status.machine") == "wse2"
    expect(page.locator("#cover")).to_be_hidden()
    page.keyboard.press("n")
    page.wait_for_function("window.MESH.step === window.WS.state.cursor.step")


def test_file_that_cannot_be_read_is_said_and_the_run_stays(page: Page) -> None:
    before = page.evaluate("window.WS.state.born")
    page.evaluate("window.WS.sendFile(new File(['no model'], 'broken.onnx'))")
    expect(page.locator("#toast.alert")).to_contain_text("broken")
    expect(page.locator("#cover")).to_be_hidden()
    assert page.evaluate("window.WS.state.born") == before
