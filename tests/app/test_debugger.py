"""The session: verbs by name, knobs in the background, undo, what is handed out."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from app.commands import CommandError
from app.debugger import Debugger
from lowering.config import KnobError


def test_verb_by_name_equals_the_method(debugger: Debugger) -> None:
    debugger.do("pe", "3", "4")
    assert debugger.cursor.selection.pe == (3, 4)
    debugger.do("first")
    debugger.do("next", 2)
    two = debugger.cursor.step
    debugger.seek(0)
    debugger.step(2)
    assert debugger.cursor.step == two


def test_failed_verb_changes_nothing(debugger: Debugger) -> None:
    before, revision = debugger.cursor, debugger.revision
    with pytest.raises(CommandError):
        debugger.do("pe", "99", "99")
    assert (debugger.cursor, debugger.revision) == (before, revision)


def test_face_command_is_not_ours(debugger: Debugger) -> None:
    with pytest.raises(CommandError, match="done by the screen"):
        debugger.do("play")


def test_revision_grows_only_on_change(debugger: Debugger) -> None:
    debugger.set_metric("traffic")
    once = debugger.revision
    debugger.set_metric("traffic")
    assert debugger.revision == once


def test_what_is_handed_out_cannot_be_changed(debugger: Debugger) -> None:
    view = debugger.view_map(8, 8)
    with pytest.raises(ValueError):
        view.values[0, 0] = 1
    with pytest.raises(FrozenInstanceError):
        view.step = 3  # type: ignore[misc]


def test_every_view_has_a_json_form(debugger: Debugger) -> None:
    debugger.select_pe(0, 0)
    views = [
        debugger.view_map(16, 16), debugger.view_pe(), debugger.view_kernel(),
        debugger.view_timeline(20), debugger.view_report(), debugger.find_idle(),
        debugger.find_idle("step"), debugger.view_knobs(), debugger.view_status(),
        debugger.view_help(),
    ]  # fmt: skip
    for view in views:
        assert view is not None
        assert json.loads(json.dumps(view.to_json(), allow_nan=False))


def test_knob_compiles_again_and_tells_the_difference(debugger: Debugger) -> None:
    old = debugger.run
    debugger.set_knob("samples", "8")
    state = debugger.wait(30)
    assert state is not None
    assert state.state == "done"
    assert debugger.run.program.samples == 8
    assert debugger.run.id != old.id
    delta = debugger.view_status().delta
    assert delta is not None
    makespan = next(row for row in delta.rows if row.name == "makespan")
    assert makespan.old == old.timeline.makespan
    assert makespan.new == debugger.run.timeline.makespan
    assert makespan.percent == pytest.approx(100 * (makespan.new / makespan.old - 1))


def test_undo_and_redo_give_the_same_runs_back(debugger: Debugger) -> None:
    first = debugger.run
    debugger.set_knob("samples", "6")
    debugger.wait(30)
    second = debugger.run
    debugger.step(3)
    assert debugger.undo() is first
    assert debugger.redo() is second
    debugger.redo()
    assert debugger.message == "nothing to redo"


def test_two_quick_knobs_both_hold(debugger: Debugger) -> None:
    debugger.set_knob("samples", "5")
    debugger.set_knob("max_chunks", "4")
    debugger.wait(30)
    assert (debugger.run.config.samples, debugger.run.config.max_chunks) == (5, 4)


def test_refused_knob_leaves_everything(debugger: Debugger) -> None:
    run = debugger.run
    with pytest.raises(KnobError, match="did you mean 'samples'"):
        debugger.set_knob("sampels", "8")
    with pytest.raises(KnobError, match=r"1\.\.4,096"):
        debugger.set_knob("samples", "0")
    assert debugger.run is run
    assert debugger.job is None


def test_compile_that_fails_keeps_the_run_and_says_why(debugger: Debugger) -> None:
    run = debugger.run
    debugger.set_knob("machine", "mesh-1x1")
    state = debugger.wait(30)
    assert state is not None
    assert state.state == "failed"
    assert debugger.run is run
    assert debugger.message == state.message
    assert "PE" in state.message
    row = next(row for row in debugger.view_knobs().rows if row.name == "machine")
    assert row.value == "mesh-64x64"


def test_kernel_knob_acts_on_the_selected_kernel(debugger: Debugger) -> None:
    debugger.select_kernel("fc1")
    debugger.do("set", "pe_cap", "64")
    debugger.wait(30)
    assert debugger.run.region("fc1").area <= 64
    assert debugger.cursor.selection.kernel == "fc1"


def test_view_is_where_it_was_after_saving_and_opening(debugger: Debugger, tmp_path: Path) -> None:
    debugger.select_pe(2, 3)
    debugger.set_metric("sram_live")
    debugger.step(2)
    debugger.zoom(2)
    debugger.export(tmp_path / "run.wscope")
    again = Debugger.open(tmp_path / "run.wscope")
    assert again.cursor == debugger.cursor
    ours, theirs = debugger.view_map(20, 20).to_json(), again.view_map(20, 20).to_json()
    assert ours == theirs


def test_opened_recording_can_be_tuned(debugger: Debugger, tmp_path: Path) -> None:
    debugger.export(tmp_path / "run.wscope")
    again = Debugger.open(tmp_path / "run.wscope")
    again.set_knob("samples", "8")
    debugger.set_knob("samples", "8")
    again.wait(30)
    debugger.wait(30)
    assert again.run.timeline.makespan == debugger.run.timeline.makespan


def test_undo_stops_what_is_being_compiled(debugger: Debugger) -> None:
    run = debugger.run
    debugger.set_knob("samples", "7")
    debugger.undo()
    debugger.wait(30)
    assert debugger.run is run
