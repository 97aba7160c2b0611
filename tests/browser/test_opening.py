"""A larger model opened in a tab: progress, cancel, and the tab goes on meanwhile."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from types import SimpleNamespace

import pytest
from playwright.sync_api import Page, expect

import app.web.opening
from app.debugger import Debugger
from engine.progress import Progress
from tests.factories.refused import refused_model


def _never_ready(source: str, config: object, *, progress: Progress) -> None:
    """Open nothing until it is cancelled, as a model does that takes its time."""
    while True:
        progress.check()
        sleep(0.01)


def test_progress_is_shown_and_cancel_keeps_the_run(
    page: Page, debugger: Debugger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.web.opening, "Debugger", SimpleNamespace(open=_never_ready))
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
    dialog = page.locator("#prompt")
    expect(dialog).to_contain_text("broken.onnx was not opened")
    expect(dialog.locator("p.alert")).to_contain_text("broken")
    expect(dialog).to_contain_text("What helps")
    expect(page.locator("#cover")).to_be_hidden()
    assert page.evaluate("window.WS.state.born") == before


def test_unsupported_operators_are_reported_and_the_run_stays(page: Page, tmp_path: Path) -> None:
    before = page.evaluate("window.WS.state.born")
    page.get_by_role("button", name="Open", exact=True).click()
    page.get_by_label("file to send").set_input_files(refused_model(tmp_path))
    dialog = page.locator("#prompt")
    expect(dialog).to_contain_text("was not opened")
    rows = dialog.locator("tbody tr")
    expect(rows).to_have_count(2)
    det, where = rows.filter(has_text="Det"), rows.filter(has_text="NonZero")
    expect(det.locator("td").nth(1)).to_have_text("2")
    expect(det.locator("td").nth(2)).to_have_text("det1, det2")
    expect(where.locator("td").nth(2)).to_have_text("<b>where</b>")
    expect(where.locator("td").last).to_contain_text("Where")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dialog.get_by_role("button", name="Copy as text").click()
    expect(page.locator("#toast")).to_contain_text("The report is on the clipboard")
    text = page.evaluate("navigator.clipboard.readText()")
    assert "Det x 2" in text
    assert "nodes: det1, det2" in text
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.evaluate("window.WS.state.born") == before
    page.keyboard.press("End")
    page.wait_for_function(
        "window.MESH.step === window.WS.state.cursor.step && window.MESH.step > 0"
    )
