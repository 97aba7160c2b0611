"""Panels about the whole program: memory in program order, roofline, model graph."""

from __future__ import annotations

import json

from app.debugger import Debugger
from app.units import size
from app.web.graph_panel import graph_panel
from app.web.memory_panel import memory_panel
from app.web.pages import page_json
from app.web.roofline_panel import roofline_panel
from app.web.turn_panel import activations_panel, turn_panel
from tests.app.sessions import mlp_streaming
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


def test_roofline_has_a_point_and_a_row_a_kernel_and_names_its_roofs(debugger: Debugger) -> None:
    debugger.do("kernel", "fc1")
    view = debugger.view_roofline()
    panel = roofline_panel(view)
    dots = with_class(panel, "dot")
    assert [prop(dot, "data-arg") for dot in dots] == [p.kernel for p in view.points]
    assert len(with_class(panel, "chosen")) == 2
    words = text(panel)
    for roof in view.roofs:
        assert roof.name in words
        assert roof.standing in words


def test_points_stand_inside_the_picture(debugger: Debugger) -> None:
    for dot in with_class(roofline_panel(debugger.view_roofline()), "dot"):
        _, reach, body = dot.children
        assert 40 <= float(prop(body, "cx")) <= 314
        assert 8 <= float(prop(reach, "y2")) <= float(prop(reach, "y1")) <= 212


def test_graph_has_a_button_a_box_that_leads_to_its_kernels(debugger: Debugger) -> None:
    view = debugger.view_graph()
    panel = graph_panel(view)
    buttons = [b for b in with_class(panel, "node") if not with_class([b], "opener")]
    assert [prop(b, "aria-label") for b in buttons] == [box.sentence for box in view.boxes]
    for button, box in zip(buttons, view.boxes, strict=True):
        if len(box.kernels) == 1:
            assert prop(button, "data-do") == "kernel"
            assert prop(button, "data-arg") == box.kernels[0]
        else:
            assert prop(button, "data-args") == " ".join(map(str, box.place or ()))
    openers = [prop(b, "data-arg") for b in with_class(panel, "opener")]
    assert openers == [box.id for box in view.boxes if box.is_scope]
    assert len(with_class(panel, "edge")) == len(view.edges)


def test_turn_panel_has_an_item_a_phase_and_a_row_an_arrival() -> None:
    session = mlp_streaming()
    steps = range(session.run.timeline.steps)
    view = next(
        v for s in steps if session.seek(s) and (v := session.view_streaming()) and v.arriving
        and not v.is_waiting
    )  # fmt: skip
    panel = turn_panel(view)
    items = [item for state in ("done", "now", "later") for item in with_class(panel, state)]
    assert len(items) == len(view.phases)
    assert {prop(item, "title") for item in items} == {phase.sentence for phase in view.phases}
    words = text(panel)
    for row in view.arriving:
        assert row.kernel in words
        assert f"{size(row.sent_bytes)} of {size(row.bytes)}" in words


def test_turn_panel_of_a_pipeline_says_that_none_takes_turns(debugger: Debugger) -> None:
    assert "no kernel takes turns" in text(turn_panel(debugger.view_streaming())).lower()


def test_activations_have_a_row_each_and_a_strip_a_turn() -> None:
    view = mlp_streaming().view_activations()
    panel = activations_panel(view)
    strips = with_class(panel, "touch")
    assert [prop(strip, "data-arg") for strip in strips] == [p.kernel for p in view.points]
    words = text(panel)
    for row in view.rows:
        assert row.tensor in words
        assert size(row.bytes) in words
        assert row.fate in words
