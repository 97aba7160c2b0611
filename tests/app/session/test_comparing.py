"""The session's verbs that compare, and knobs from and to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands import CommandError
from app.configs.file import ConfigFileError
from app.runs.saving import save_run
from tests.app.sessions import mlp_run, mlp_session


def test_compare_measures_against_the_run_before_the_last_knob() -> None:
    session = mlp_session()
    with pytest.raises(CommandError, match="there is no run before this one"):
        session.do("compare")
    assert session.view_compare() is None
    assert session.view_difference(8, 8) is None
    session.set_knob("pe_cap", 40, "fc1")
    session.wait()
    answer = session.do("compare")
    assert answer.startswith("pe_cap@fc1 auto -> 40: makespan 1,")
    view = session.view_compare()
    assert view is not None
    assert session.compared is mlp_run()
    assert view.rows[0].b == session.run.timeline.makespan
    session.seek(-1)
    last = session.view_compare()
    assert last is not None
    assert last.step_a == mlp_run().timeline.steps - 1
    session.do("compare", "off")
    assert session.view_compare() is None


def test_the_run_compared_with_stays_while_knobs_are_turned() -> None:
    session = mlp_session()
    session.set_knob("slots", 1)
    session.wait()
    session.compare()
    session.set_knob("slots", 4)
    session.wait()
    view = session.view_compare()
    assert view is not None
    assert view.knobs == (("slots", "auto", "4"),)


def test_how_to_compare_so_again_is_told_by_the_changes_of_knobs(tmp_path: Path) -> None:
    session = mlp_session()
    assert session.compared_as == ""
    for slots in (1, 2, 3):
        session.set_knob("slots", slots)
        session.wait()
        if slots == 2:
            session.do("compare")
    assert session.compared_as == "1"
    assert session.view_knobs().history == ("slots = 1", "slots = 2", "slots = 3")
    session.do("undo")
    session.do("undo")
    assert session.compared_as == ""  # it is the run on screen
    session.do("undo")
    assert session.compared_as == ""  # it is a later one
    path = tmp_path / "a.wscope"
    save_run(mlp_run(), path)
    session.do("compare", path)
    session.wait()
    assert session.compared_as == "a.wscope"


def test_changes_that_were_forgotten_cannot_be_made_again() -> None:
    session = mlp_session()
    for slots in (1, 2, 3):
        session.set_knob("slots", slots)
        session.wait()
    session.do("compare")
    session.forget_runs()
    assert session.compared is not None
    assert session.compared_as == ""


def test_recording_is_opened_in_the_background(tmp_path: Path) -> None:
    path = tmp_path / "a.wscope"
    save_run(mlp_run(), path)
    session = mlp_session()
    session.do("compare", str(path))
    session.wait()
    assert session.message.startswith("equal knobs: makespan")
    found = session.view_difference(16, 16)
    assert found is not None
    assert found.limit == 0
    tied = session.view_difference(16, 16, "step")
    assert tied is not None
    assert tied.steps == (session.cursor.step, session.cursor.step)
    with pytest.raises(CommandError, match="'run' or a 'step', not 'all'"):
        session.view_difference(4, 4, "all")


def test_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    session = mlp_session()
    with pytest.raises(CommandError, match=r"is no \.wscope recording"):
        session.do("compare", "model.onnx")
    session.do("compare", str(tmp_path / "none.wscope"))
    session.wait()
    assert "none.wscope" in session.message
    assert session.view_compare() is None


def test_difference_is_exported(tmp_path: Path) -> None:
    session = mlp_session()
    with pytest.raises(CommandError, match="nothing is compared"):
        session.do("export-difference", str(tmp_path / "d.png"))
    session.set_knob("pe_cap", 40, "fc1")
    session.wait()
    session.compare()
    assert session.do("export-difference", str(tmp_path / "d.png")).startswith("wrote")
    assert (tmp_path / "d.png").read_bytes()[:4] == b"\x89PNG"


def test_config_is_saved_and_loaded(tmp_path: Path) -> None:
    session, path = mlp_session(), tmp_path / "w.yaml"
    session.set_knob("samples", 7)
    session.wait()
    session.do("save-config", str(path))
    other = mlp_session()
    other.do("load-config", str(path))
    other.wait()
    assert other.run.config == session.run.config
    assert other.run.program.samples == 7
    assert other.view_knobs().history == ("config w.yaml",)


def test_knob_of_a_kernel_is_set_by_its_name_and_taken_back() -> None:
    session = mlp_session()
    session.do("set", "pin@fc1", "20x20 at 30,30")
    session.wait()
    assert (session.run.region("fc1").row, session.run.region("fc1").col) == (30, 30)
    session.do("set", "fusion", "none")
    session.wait()
    assert len(session.run.program.kernels) == 8
    session.do("set", "pin@fc7", "2x2 at 0,0")
    session.wait()
    assert "no kernel 'fc7'" in session.message
    assert len(session.run.program.kernels) == 8
    session.do("set", "pin@fc1", "auto")
    session.wait()
    assert session.run.config.pins == ()


def test_config_with_a_mistake_changes_nothing(tmp_path: Path) -> None:
    session, path = mlp_session(), tmp_path / "w.yaml"
    path.write_text("samples: 9\nslots: 99\n", encoding="utf-8")
    with pytest.raises(ConfigFileError, match=r"must be 1\.\.64"):
        session.do("load-config", str(path))
    assert session.run is mlp_run()
    assert session.view_knobs().rows[1].value == "4"
