"""Runs as files: equal bytes, verify finds every difference."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.runs.run import Run, make_run
from app.runs.saving import load_run, save_run, verify_recording
from engine.kernels.dot.spec import Dot
from engine.program import HOST, Conflict, ConflictTerm
from engine.recording import RecordingError, read_recording, write_recording
from tests.app.sessions import mesh_config, mlp_run
from tests.factories.graphs import tiny_graph


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mlp.wscope"
    save_run(mlp_run(), path)
    return path


def test_equal_runs_give_equal_files(file: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.wscope"
    save_run(load_run(1, file).run, again)
    assert again.read_bytes() == file.read_bytes()


def test_untouched_file_verifies(file: Path) -> None:
    checks = verify_recording(file)
    assert all(check.ok for check in checks), [c for c in checks if not c.ok]
    names = {check.name for check in checks}
    assert {"digest", "timeline", "sums of utilization", "compiler"} <= names


def test_other_sums_are_found_with_their_step(file: Path) -> None:
    recording = read_recording(file)
    sums = {name: array.copy() for name, array in recording.sums.items()}
    sums["traffic"][5] += 1
    write_recording(file, replace(recording, sums=sums))
    bad = [check for check in verify_recording(file) if not check.ok]
    assert [check.name for check in bad] == ["sums of traffic"]
    assert "step 5" in bad[0].detail


def test_other_timeline_is_found_and_shown_on_opening(file: Path) -> None:
    recording = read_recording(file)
    timeline = {name: np.array(array) for name, array in recording.timeline.items()}
    timeline["end"][0, 0] += 1
    write_recording(file, replace(recording, timeline=timeline))
    assert not next(c for c in verify_recording(file) if c.name == "timeline").ok
    assert any("'end'" in remark for remark in load_run(1, file).run.remarks)


def test_other_program_is_a_compiler_difference(file: Path) -> None:
    recording = read_recording(file)
    write_recording(file, replace(recording, program=replace(recording.program, samples=3)))
    bad = {check.name for check in verify_recording(file) if not check.ok}
    assert {"timeline", "compiler"} <= bad


def test_program_without_sense_is_a_sentence(file: Path) -> None:
    recording = read_recording(file)
    write_recording(file, replace(recording, program=replace(recording.program, kernels=())))
    with pytest.raises(RecordingError, match="cannot be executed"):
        load_run(1, file)


def test_slots_that_nothing_fills_and_words_that_nothing_moves_are_sentences(file: Path) -> None:
    recording = read_recording(file)
    program = recording.program
    moved = next(t for t in program.transfers if t.producer and t.consumers != (HOST,))
    slot = next(b for b in program.buffers if b.role == "in slot" and b.name == moved.tensor)
    others = tuple(t for t in program.transfers if t is not moved)
    kept = tuple(c for c in program.conflicts if moved.id not in {t.flow for t in c.terms})
    met = Conflict("east", 0, 0, (ConflictTerm(moved.id, 3),))
    still = replace(moved, legs=())
    for broken, why in (
        (replace(program, transfers=others, conflicts=kept),
         f"slot '{slot.name}' of kernel '.*': nothing fills it"),
        (replace(program, transfers=(*others, still), conflicts=(*kept, met)),
         f"a conflict gives words to '{moved.id}', which moves none"),
    ):  # fmt: skip
        write_recording(file, replace(recording, program=broken))
        with pytest.raises(RecordingError, match=why):
            load_run(1, file)


def test_file_of_another_version_says_so(file: Path) -> None:
    write_recording(file, replace(read_recording(file), tool="0.0.1"))
    assert any("0.0.1" in remark for remark in load_run(1, file).run.remarks)


def sparse_run() -> Run:
    """Return a run on a machine that skips zeros; half of the weights are."""
    shapes = {"x": (8, 32), "w": (32, 16), "y": (8, 16)}
    graph = tiny_graph(shapes, Dot(inputs=("x", "w"), outputs=("y",)))
    weights = graph.constants["w"].copy()
    weights[:16] = 0
    config = mesh_config(16)
    config = replace(config, machine=replace(config.machine, harvests_sparsity=True))
    return make_run(650, replace(graph, constants={"w": weights}), config, "sparse")


def test_skipped_zeros_are_in_the_file_that_carries_no_weights(tmp_path: Path) -> None:
    run, path = sparse_run(), tmp_path / "sparse.wscope"
    assert run.execution.nonzeros["y"].sum() == 16 * 16
    save_run(run, path)
    checks = verify_recording(path)
    assert all(check.ok for check in checks), [c for c in checks if not c.ok]
    opened = load_run(1, path).run
    assert opened.remarks == ()
    assert opened.timeline.makespan == run.timeline.makespan
    again = tmp_path / "again.wscope"
    save_run(opened, again)
    assert again.read_bytes() == path.read_bytes()


def test_a_run_without_skipped_zeros_has_no_such_section(file: Path) -> None:
    with zipfile.ZipFile(file) as bundle:
        assert not any("nonzeros" in name for name in bundle.namelist())


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (np.zeros((1, 1, 1), np.int64), "its tiles want integers of shape"),
        (np.zeros((1, 1)), "its tiles want integers of shape"),
        (None, "a tile has more non-zeros than weights"),
    ],
)
def test_non_zeros_that_no_tile_holds_are_refused(
    counts: np.ndarray | None, said: str, tmp_path: Path
) -> None:
    run, path = sparse_run(), tmp_path / "sparse.wscope"
    save_run(run, path)
    recording = read_recording(path)
    wrong = recording.nonzeros["y"] + 10_000 if counts is None else counts
    write_recording(path, replace(recording, nonzeros={"y": wrong}))
    with pytest.raises(RecordingError, match=said):
        load_run(1, path)
