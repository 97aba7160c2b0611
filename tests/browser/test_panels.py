"""Panels of the moment: filled in place by the page's own script."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from app.debugger import Debugger


def test_elements_that_stay_are_kept_when_the_panel_changes(page: Page) -> None:
    made = page.evaluate(
        """() => {
            const box = document.createElement('div');
            const list = (...names) => [{ type: 'Ul', props: { className: 'names',
                children: names.map((name) => ({ type: 'Li', props: { children: name } })) } }];
            window.WS.fill(box, list('a', 'b', 'c'));
            const first = box.querySelector('li');
            window.WS.fill(box, list('x', 'y'));
            return [box.innerHTML, first === box.querySelector('li')];
        }"""
    )
    assert made == ['<ul class="names"><li>x</li><li>y</li></ul>', True]


def test_hover_over_a_link_gives_load_and_wavelets(page: Page, debugger: Debugger) -> None:
    fields = debugger.run.execution.fields
    step = fields.peak_step("link_east")
    row, col, _, words, _ = next(h for h in fields.hottest(step, 99) if h[2] == "east")
    page.evaluate("window.WS.act('metric', 'link_east')")
    page.evaluate("step => window.WS.act('seek', step)", step)
    page.wait_for_function(
        "step => window.MESH.metric === 'link_east' && window.MESH.step === step", arg=step
    )
    x, y = page.evaluate("([r, c]) => window.WS.mesh.pointOf(r, c)", [row, col])
    page.locator("#mesh").hover(position={"x": x, "y": y})
    expect(page.locator("#hover")).to_contain_text("wavelets a cycle")
    expect(page.locator("#hover")).to_contain_text(f"{words:,} wavelets in this step")


def test_legend_names_the_kernels_that_run(page: Page) -> None:
    expect(page.locator("#running")).to_contain_text("running: fc0")
