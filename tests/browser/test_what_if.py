"""A program that does not fit, in the browser: the notice leaves the panels their room."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from app.debugger import Debugger
from tests.app.test_what_if import what_if


@pytest.fixture
def debugger() -> Debugger:
    return Debugger(what_if())


def test_notice_unfolds_and_panels_stay_on_the_screen(page: Page) -> None:
    notice = page.locator("#notice")
    expect(notice).to_contain_text("Does not fit:")
    expect(page.locator("#header-facts")).to_contain_text("would not run")
    tab = page.locator("#tab-report").bounding_box()
    assert tab is not None
    assert tab["x"] + tab["width"] <= 1280
    notice.locator("summary").click()
    expect(notice).to_contain_text("held by:")
    expect(notice).to_contain_text("It would fit on mesh-64x64.")
