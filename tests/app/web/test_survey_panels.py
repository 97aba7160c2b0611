"""Panels about the whole program: memory in program order."""

from __future__ import annotations

import json

from app.debugger import Debugger
from app.units import size
from app.web.memory_panel import memory_panel
from app.web.pages import page_json
from tests.app.web.rendered import prop, text, with_class


def test_memory_panel_has_a_strip_a_point_and_a_row_a_buffer(debugger: Debugger) -> None:
    view = debugger.view_memory()
    panel = memory_panel(view)
    strips = with_class(panel, "touch")
    assert [prop(strip, "data-arg") for strip in strips] == [p.kernel for p in view.points]
    words = text(panel)
    assert view.sentence in words
    for row in view.rows:
        assert row.name in words
        assert size(row.held_bytes) in words


def test_memory_panel_of_a_selection_leads_back_to_the_wafer(debugger: Debugger) -> None:
    debugger.do("kernel", "fc1")
    found = json.loads(page_json(debugger, "memory"))
    told = json.dumps(found)
    assert "PEs of fc1" in told
    assert '"data-do": "clear"' in told
