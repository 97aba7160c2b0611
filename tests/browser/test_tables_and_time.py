"""The kernel table, the curve over time, and what all panels share: copied as text, made wide."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from app.debugger import Debugger

ORDER = "() => [...document.querySelectorAll('#kernel-table tbody tr')].map(r => r.dataset.kernel)"


def test_headings_sort_both_ways_and_back_to_program_order(page: Page, debugger: Debugger) -> None:
    rows = debugger.view_report().rows
    page.click("#tab-kernels")
    cycles = page.locator("#kernel-table th", has_text="cycles").first
    cycles.locator("button").click()
    expect(cycles).to_have_attribute("aria-sort", "descending")
    falling = sorted(rows, key=lambda row: -row.cycles)
    assert page.evaluate(ORDER) == [row.name for row in falling]
    cycles.locator("button").click()
    expect(cycles).to_have_attribute("aria-sort", "ascending")
    assert page.evaluate(ORDER) == [row.name for row in sorted(rows, key=lambda row: row.cycles)]
    cycles.locator("button").click()
    assert page.evaluate(ORDER) == [row.name for row in rows]


def test_filter_knows_words_and_limits_and_csv_holds_what_is_left(
    page: Page, debugger: Debugger, tmp_path: Path
) -> None:
    rows = debugger.view_report().rows
    limit = sorted(row.cycles for row in rows)[-1]
    page.click("#tab-kernels")
    page.fill("#kernel-filter", f"cycles >= {limit}")
    left = [row for row in rows if row.cycles >= limit]
    expect(page.locator("#kernel-count")).to_have_text(f"{len(left)} of {len(rows)}")
    with page.expect_download() as waiting:
        page.click("[data-do=kernels-csv]")
    waiting.value.save_as(tmp_path / "kernels.csv")
    lines = (tmp_path / "kernels.csv").read_text().splitlines()
    assert lines[0].startswith("kernel,kind,PEs,cycles")
    assert [line.split(",")[0] for line in lines[1:]] == [row.name for row in left]
    assert lines[1].split(",")[3] == str(left[0].cycles)
    page.fill("#kernel-filter", "relu1")
    expect(page.locator("#kernel-table tbody tr:visible")).to_have_count(1)
    expect(page.locator("#kernel-table tbody tr:visible")).to_contain_text("fc1")
    page.fill("#kernel-filter", "nothing like it")
    expect(page.locator("#kernel-count")).to_have_text(f"0 of {len(rows)}")


def test_shift_drag_zooms_into_a_span_and_double_click_goes_back(page: Page) -> None:
    box = page.locator("#time").bounding_box()
    assert box is not None
    with page.expect_response("**/api/timeline/**") as answer:
        page.keyboard.down("Shift")
        page.mouse.move(box["x"] + 300, box["y"] + 80)
        page.mouse.down()
        page.mouse.move(box["x"] + 600, box["y"] + 80, steps=4)
        page.mouse.up()
        page.keyboard.up("Shift")
    span = answer.value.json()
    assert 0 < span["start"] < span["end"] < span["makespan"]
    with page.expect_response("**/api/timeline/**") as answer:
        page.locator("#time").dblclick(position={"x": 700, "y": 80})
    whole = answer.value.json()
    assert (whole["start"], whole["end"]) == (0, whole["makespan"])


def test_curve_changes_and_its_top_is_gone_to(page: Page, debugger: Debugger) -> None:
    for series in debugger.view_timeline().series:
        expect(page.locator("#curve")).to_have_text(series.name)
        expect(page.locator("#curve-top")).to_have_text(f"top {series.top_text}")
        page.click("#curve-top")
        page.wait_for_function("step => window.MESH.step === step", arg=series.top_step)
        page.click("#curve")
    expect(page.locator("#curve")).to_have_text("utilization")


def test_panel_is_copied_as_text_or_shown_to_be_copied(page: Page, debugger: Debugger) -> None:
    page.click("#tab-memory")
    sentence = debugger.view_memory().sentence
    expect(page.locator("#fill-memory")).to_contain_text(sentence)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("[data-do=copy-panel]")
    expect(page.locator("#toast")).to_contain_text("clipboard")
    assert sentence in page.evaluate("navigator.clipboard.readText()")
    page.context.clear_permissions()
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }"
    )
    page.click("[data-do=copy-panel]")
    expect(page.locator("#prompt textarea")).to_have_value(page.evaluate(
        "document.getElementById('panel-memory').innerText.trim()"))  # fmt: skip


def test_wide_panel_takes_half_and_shows_more_columns(page: Page) -> None:
    page.click("#tab-kernels")
    more = page.locator("#kernel-table th.more").first
    expect(more).to_be_hidden()
    page.click("#widen")
    expect(more).to_be_visible()
    box = page.locator("#panel-kernels").bounding_box()
    assert box is not None
    assert box["width"] > 0.4 * 1280
    page.click("#widen")
    expect(more).to_be_hidden()
