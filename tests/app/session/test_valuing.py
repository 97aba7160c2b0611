"""Values in a session: computed once, kept with their run, refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.debugger import Debugger
from app.runs.opening import open_run
from app.runs.saving import load_run, save_run
from lowering.evaluate import default_inputs
from tests.app.sessions import mesh_config, mlp_session


def with_values() -> Debugger:
    session = mlp_session()
    session.do("values")
    job = session.wait(60)
    assert job is not None
    assert job.state == "done", job.message
    return session


def test_values_are_kept_with_the_same_run() -> None:
    session = mlp_session()
    before = session.run
    assert session.view_values().state == "none"
    assert session.do("values") == "computing values"
    session.wait(60)
    assert session.run.id == before.id
    assert session.run.values["scores"].shape == (4, 10)
    assert before.computed is None
    view = session.view_values()
    assert view.state == "ready"
    assert {row.tensor for row in view.rows} >= {"relu0", "relu1", "scores"}
    assert view.max_error is not None
    assert 0 < view.max_error < 1e-5
    assert session.message == view.sentence


def test_a_second_request_answers_at_once() -> None:
    session = with_values()
    made = session.run.computed
    assert "largest error" in session.do("values")
    assert session.run.computed is made


def test_given_inputs_replace_the_seeded_ones() -> None:
    session = with_values()
    inputs = default_inputs(session.run.compiled.graph, 7)
    seeded = session.run.values["scores"]
    session.compute_values(inputs)
    session.wait(60)
    assert not np.array_equal(session.run.values["scores"], seeded)
    assert "given inputs" in session.view_values().sentence


def test_inputs_that_do_not_fit_fail_with_a_sentence() -> None:
    session = mlp_session()
    session.compute_values({"imag": np.zeros(3)})
    job = session.wait(60)
    assert job is not None
    assert job.state == "failed"
    assert "there is no input 'imag'" in session.message


def test_undo_brings_back_a_run_with_its_values() -> None:
    session = with_values()
    session.set_knob("samples", 2)
    session.wait(60)
    assert session.view_values().state == "none"
    session.undo()
    assert session.view_values().state == "ready"


def test_a_compilation_at_work_goes_first() -> None:
    session = mlp_session()
    session.set_knob("samples", 3)
    running = session.job
    answer = session.do("values")
    if running is not None and running.is_running and "computing" not in answer:
        assert "samples = 3" in answer
    session.wait(60)
    assert session.run.program.samples == 3


def test_shapes_alone_have_no_values() -> None:
    session = Debugger(open_run(990, "gpt2-small", mesh_config(256, 1), {}).run)
    assert session.compute_values() is None
    assert "without numbers" in session.message
    view = session.view_values()
    assert (view.state, view.rows) == ("unavailable", ())
    assert "it can be timed, not evaluated" in view.sentence


def test_a_recording_shows_its_tensors_and_computes_none(tmp_path: Path) -> None:
    save_run(with_values().run, tmp_path / "r.wscope")
    session = Debugger(load_run(991, tmp_path / "r.wscope").run)
    view = session.view_values()
    assert view.state == "ready"
    assert [row.max_error for row in view.rows] == [None] * len(view.rows)
    assert "carries no weights" in session.do("values")
    pe = session.view_pe(0, 0)
    assert pe is not None
    assert pe.values is None
    assert "carries no weights" in pe.values_note


def test_cancel_stops_values_and_keeps_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from app.runs import routing
    from app.runs.computed import Computed
    from app.runs.run import Run
    from engine.progress import Progress

    begun = threading.Event()

    def endless(run: Run, inputs: object, samples: int, progress: Progress) -> Computed:
        begun.set()
        while True:
            progress.check()

    monkeypatch.setattr(routing, "compute_values", endless)
    session = mlp_session()
    session.compute_values()
    assert begun.wait(10)
    session.do("cancel")
    job = session.wait(10)
    assert job is not None
    assert job.state == "cancelled"
    assert session.view_values().state == "none"
