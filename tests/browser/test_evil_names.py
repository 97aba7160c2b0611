"""A model whose every name is a script: opened in a real browser, nothing of it runs."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.app.web.evil import evil_model


def test_no_script_of_a_name_runs_in_any_panel(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "evil.onnx"
    path.write_bytes(evil_model())
    page.get_by_role("button", name="Open").click()
    page.locator("#prompt input[type=file]").set_input_files(path)
    page.wait_for_function("window.WS.state.status.model !== 'mlp'")
    page.wait_for_function("window.WS.facts.run === window.WS.state.status.run_id")
    kernel = page.evaluate("window.WS.facts.timeline.lanes[0]")
    page.evaluate("name => window.WS.act('kernel', name)", kernel)
    page.evaluate("window.WS.act('values')")
    page.wait_for_function("window.WS.state.status.values === 'ready'")
    for name in page.evaluate(
        "[...document.querySelectorAll('[data-tab]')].map(t => t.dataset.tab)"
    ):
        page.click(f"#tab-{name}")
        expect(page.locator(f"#panel-{name}")).not_to_be_empty()
    page.click("#tab-values")
    expect(page.locator("#panel-values")).to_contain_text("onerror")
    page.click("#tab-report")
    expect(page.locator("#panel-report")).to_be_visible()
    for key in ("/", "g", ":", "e", "?"):
        page.keyboard.press(key)
        page.keyboard.press("Escape")
    page.locator("#mesh").hover(position={"x": 300, "y": 200})
    page.locator("#time").hover(position={"x": 300, "y": 20})
    page.evaluate("window.WS.act('explain', 'no such <img src=x onerror=window.hacked=1>')")
    expect(page.locator("#toast")).to_contain_text("onerror")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img[src=x]').length") == 0
