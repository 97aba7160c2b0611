"""Signals in, panels out: the callbacks called as plain functions."""

from __future__ import annotations

import pytest
from dash.exceptions import PreventUpdate

from app.debugger import Debugger
from app.web import Registry
from app.web.callbacks import show_idle, show_run
from app.web.pages import page_json
from tests.app.web.rendered import prop, text, with_class


def test_run_panels_name_model_machine_and_every_kernel(
    registry: Registry, session: str, debugger: Debugger
) -> None:
    head, notice, report = show_run(registry, {"session": session})
    assert "mlp" in text(head)
    assert "ledger ok" in text(head)
    assert notice is None
    for kernel in debugger.run.program.kernels:
        assert kernel.id in page_json(debugger, "kernels")
    assert "causes sum to cycles" in text(report)


def test_idle_region_is_selected_and_zoomed_to(registry: Registry, session: str) -> None:
    panel = show_idle(registry, {"session": session})
    button = with_class(panel, "link")[0]
    assert prop(button, "data-do") == "region"
    assert prop(button, "data-then") == "focus"
    assert len(str(prop(button, "data-args")).split()) == 4


@pytest.mark.parametrize("signal", [None, {}, {"session": "0-aaaaaaaa"}])
def test_signal_of_another_server_updates_nothing(
    registry: Registry, signal: dict[str, str] | None
) -> None:
    with pytest.raises(PreventUpdate):
        show_run(registry, signal)
